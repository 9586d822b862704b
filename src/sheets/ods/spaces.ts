/** Namespaces of OpenDocument that are listened to, by the prefixes that programs give them. */
export const spaces: ReadonlyMap<string, string> = new Map(
  ['office', 'table', 'text', 'style', 'config'].map((each) => [
    `urn:oasis:names:tc:opendocument:xmlns:${each}:1.0`,
    `${each}:`,
  ]),
).set('urn:oasis:names:tc:opendocument:xmlns:drawing:1.0', 'draw:')
