/** Sorts and filters the table of people where scripts run; without it the table is whole, in its own order. */
export const tableScript = `
const table = document.querySelector('table[data-sorts]')
const tools = document.querySelector('.tools')
if (table && tools) {
  const body = table.tBodies[0]
  const rows = [...body.rows]
  const search = tools.querySelector('input')
  const select = tools.querySelector('select')
  const said = tools.querySelector('output')
  const plain = (text) => text.normalize('NFD').replace(/\\p{M}/gu, '').toLowerCase()
  const texts = new Map(rows.map((row) => [row, plain(row.dataset.find)]))
  const keyOf = (row, at) => row.cells[at].dataset.key ?? row.cells[at].textContent.trim()
  const filter = () => {
    const words = plain(search.value).split(/\\s+/).filter(Boolean)
    let count = 0
    for (const row of rows) {
      const isShown = words.every((word) => texts.get(row).includes(word)) && (select.value === '' || row.dataset.status === select.value)
      row.hidden = !isShown
      if (isShown) count += 1
    }
    said.textContent = count === rows.length ? '' : count + ' of ' + rows.length + ' shown'
  }
  const heads = [...table.tHead.rows[0].cells]
  heads.forEach((head, at) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...head.childNodes)
    head.append(button)
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending'
      for (const each of heads) each.removeAttribute('aria-sort')
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending')
      const compare = new Intl.Collator(undefined, { numeric: true }).compare
      const sorted = [...rows].sort((one, other) => {
        const [a, b] = [keyOf(one, at), keyOf(other, at)]
        if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1
        return up ? compare(a, b) : compare(b, a)
      })
      body.append(...sorted)
    })
  })
  search.addEventListener('input', filter)
  select.addEventListener('change', filter)
  tools.hidden = false
}
`
