type Person = [first: string, last: string, email: string, phone: string]

const firstNames =
  'Olivia Noah Charlotte Oliver Amelia Theodore Isla William Grace Henry Ava Jack Matilda Lucas Zara Hudson Priya Mohammed Mei Yusuf Aroha Tane Ngaio Sione Giulia Marco Siobhan Padraig Zoë Björn José Anaïs Nguyen Thi Chidi Adaeze Dmitri Svetlana Haruto Yui'.split(
    ' ',
  )
const lastNames =
  'Smith Jones Williams Brown Wilson Taylor Nguyen Patel Singh Chen Kaur Murphy O’Brien Müller García Rossi Kowalski Ivanova Tanaka Okafor Hughes Campbell Fraser Walker Young'.split(
    ' ',
  )

/** Returns a generator of numbers in [0, 1) that depends only on the seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 0x1_00_00_00_00
  }
}

/** Returns fictional people like those of HR files: couples and colleagues with one phone, and namesakes. */
export function ordinaryPeople(count: number, seed: number): Person[] {
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const toAscii = (name: string): string =>
    name
      .normalize('NFKD')
      .replaceAll(/[^a-z]/gi, '')
      .toLowerCase()
  const people: Person[] = []
  const createPhone = (): string =>
    `+614${String(people.length).padStart(4, '0')}${String(Math.floor(random() * 10_000)).padStart(4, '0')}`
  const addPerson = (first: string, last: string, number: string): void => {
    people.push([first, last, `${toAscii(first)}.${toAscii(last)}${people.length}@example.com`, number])
  }
  while (people.length < count) {
    const kind = random()
    if (kind < 0.08) {
      // A couple has one last name and one phone, and two first names.
      const [last, number] = [pick(lastNames), createPhone()]
      addPerson('Charlotte', last, number)
      addPerson('Hudson', last, number)
    } else if (kind < 0.1) {
      // Colleagues have the phone of one switchboard.
      const number = createPhone()
      for (const first of ['Priya', 'Mohammed', 'Olivia', 'Lucas', 'Svetlana'])
        addPerson(first, pick(lastNames), number)
    } else addPerson(pick(firstNames), pick(lastNames), createPhone())
  }
  return people.slice(0, count)
}
