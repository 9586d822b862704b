/**
 * The page's script, as it is sent. It asks for the page again and puts its live parts in place, so that
 * only the server draws; the focus stays where it was. Texts go in as texts.
 */
export const script = `
const everyMs = 1000
const mostEntries = 200
const said = document.getElementById('said')
const log = document.getElementById('log')

async function post(control, body, done) {
  const answer = await fetch('/_sandbox/' + control, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const told = answer.ok ? undefined : (await answer.json()).error
  said.textContent = told === undefined ? done : told.message + (told.hint === undefined ? '' : ' ' + told.hint)
  await refresh()
}

async function refresh() {
  const fresh = new DOMParser().parseFromString(await (await fetch('/')).text(), 'text/html')
  const parts = ['live', 'tables'].map((id) => [document.getElementById(id), fresh.getElementById(id)])
  if (parts.some(([, next]) => next === null)) return
  const focused = parts.some(([part]) => part.contains(document.activeElement)) ? document.activeElement.id : ''
  for (const [part, next] of parts) {
    const scrolled = [...part.querySelectorAll('.overflow-auto')].map((each) => each.scrollLeft)
    part.replaceChildren(...next.childNodes)
    part.querySelectorAll('.overflow-auto').forEach((each, at) => { each.scrollLeft = scrolled[at] ?? 0 })
  }
  if (focused !== '') (document.getElementById(focused) ?? document.getElementById('requests'))?.focus()
  const from = Number(log.dataset.next)
  const freshLog = fresh.getElementById('log')
  const count = Math.min(Number(freshLog.dataset.next) - from, freshLog.children.length)
  if (count <= 0) return
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8
  log.append(...[...freshLog.children].slice(-count))
  while (log.children.length > mostEntries) log.firstElementChild.remove()
  log.dataset.next = freshLog.dataset.next
  if (atEnd) log.scrollTop = log.scrollHeight
}

document.addEventListener('submit', (event) => {
  event.preventDefault()
  const form = event.target
  const given = new FormData(form)
  const control = form.dataset.control
  if (control === 'advance') {
    void post('advance', { ms: Number(given.get('minutes')) * 60000 }, 'The clock was advanced.')
  } else if (control === 'scenario') {
    void post('inject', { scenario: given.get('scenario') }, 'The next request follows ' + given.get('scenario') + '.')
  } else if (control === 'fault') {
    void post('inject', { on: given.get('on'), fault: JSON.parse(given.get('fault')) }, 'The fault applies to the next matching call.')
  } else {
    void post('clear-faults', {}, 'All faults are cleared.')
  }
})

document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-post]')
  if (button === null) return
  void post(button.dataset.post, JSON.parse(button.dataset.body), button.getAttribute('aria-label') + ': done.')
})

for (;;) {
  await new Promise((resolve) => setTimeout(resolve, everyMs))
  if (document.visibilityState === 'visible') await refresh().catch(() => { said.textContent = 'The sandbox does not answer.' })
}
`
