type Person = [first: string, last: string, email: string, phone: string]

const firsts =
  'Olivia Noah Charlotte Oliver Amelia Theodore Isla William Grace Henry Ava Jack Matilda Lucas Zara Hudson Priya Mohammed Mei Yusuf Aroha Tane Ngaio Sione Giulia Marco Siobhan Padraig Zoë Björn José Anaïs Nguyen Thi Chidi Adaeze Dmitri Svetlana Haruto Yui'.split(
    ' ',
  )
const lasts =
  'Smith Jones Williams Brown Wilson Taylor Nguyen Patel Singh Chen Kaur Murphy O’Brien Müller García Rossi Kowalski Ivanova Tanaka Okafor Hughes Campbell Fraser Walker Young'.split(
    ' ',
  )

/** Returns a generator of numbers in [0, 1) that depends only on the seed. */
function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 0x1_00_00_00_00
  }
}

/** Returns fictional people like those of HR files: couples and colleagues with one phone, and namesakes. */
export function ordinaryPeople(count: number, seed: number): Person[] {
  const roll = dice(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(roll() * list.length)] as T
  const ascii = (name: string): string =>
    name
      .normalize('NFKD')
      .replaceAll(/[^a-z]/gi, '')
      .toLowerCase()
  const people: Person[] = []
  const phone = (): string =>
    `+614${String(people.length).padStart(4, '0')}${String(Math.floor(roll() * 10_000)).padStart(4, '0')}`
  const add = (first: string, last: string, number: string): void => {
    people.push([first, last, `${ascii(first)}.${ascii(last)}${people.length}@example.com`, number])
  }
  while (people.length < count) {
    const kind = roll()
    if (kind < 0.08) {
      // A couple has one last name and one phone, and two first names.
      const [last, number] = [pick(lasts), phone()]
      add('Charlotte', last, number)
      add('Hudson', last, number)
    } else if (kind < 0.1) {
      // Colleagues have the phone of one switchboard.
      const number = phone()
      for (const first of ['Priya', 'Mohammed', 'Olivia', 'Lucas', 'Svetlana'])
        add(first, pick(lasts), number)
    } else add(pick(firsts), pick(lasts), phone())
  }
  return people.slice(0, count)
}
