import { expect, test } from 'vitest'

import { refusalOf, table } from './table.ts'

/** Bytes of a code page for the letters used here; the rest is ASCII. */
function bytes(text: string, page: Record<string, number>): Buffer {
  return Buffer.concat(
    Array.from(text, (character) => {
      const code = page[character] ?? character.codePointAt(0) ?? 0
      return code > 0xff ? Buffer.of(code >> 8, code & 0xff) : Buffer.of(code)
    }),
  )
}

const windows1252 = {
  Š: 0x8a,
  Œ: 0x8c,
  Ž: 0x8e,
  '‘': 0x91,
  '’': 0x92,
  '“': 0x93,
  '”': 0x94,
  '–': 0x96,
  '—': 0x97,
  '™': 0x99,
  š: 0x9a,
  œ: 0x9c,
  ž: 0x9e,
  '€': 0x80,
}

test.each([
  'Zoë',
  'José',
  'Müller',
  'MÜLLER',
  'Þórður Ágústsson',
  'Óðinn',
  'François',
  'Åsa Öberg',
  'Ørsted',
  'Núñez',
  'João',
  'Conceição',
  'Šimon Žižek',
  'O’Neil',
  'Smith–Jones',
  'd’Étienne',
  'L´Aquila',
  'Straße',
  'Æsop',
  'Côté',
  'Gal·la',
  '“quoted”',
  'N° 5',
  '£20',
  '€5.00',
  '5½',
  'AT&T™',
  '«mot»',
  'words — and words',
  'ŒUVRE',
  'cœur',
  'ÉCOLE',
  'Ó',
  'Renée’s',
])('%s in Windows-1252 is read as it is', async (text) => {
  expect(await table(bytes(`a,b\né,${text}\n`, windows1252), 'p.csv')).toEqual([
    ['a', 'b'],
    ['é', text],
  ])
})

const macRoman = { é: 0x8e, ü: 0x9f, ö: 0x9a, ó: 0x97, ñ: 0x96, ç: 0x8d, ë: 0x91, á: 0x87, Ö: 0x85 }
const windows1250 = { ł: 0xb3, ą: 0xb9, Ł: 0xa3, ż: 0xbf }
const windows1251 = { И: 0xc8, в: 0xe2, а: 0xe0, н: 0xed, Я: 0xdf }
const gbk = { 李: 0xc0ee, 明: 0xc3f7 }
const shiftJis = { 鈴: 0x97e9, 木: 0x96d8, 田: 0x9363, 中: 0x9286 }

test.each([
  ['Mac Roman', 'José', macRoman, 'JosŽ'],
  ['Mac Roman', 'Jürgen', macRoman, 'JŸrgen'],
  ['Mac Roman', 'Nuñez', macRoman, 'Nu–ez'],
  ['Mac Roman', 'Lopáz', macRoman, 'Lop‡z'],
  ['Windows-1250', 'Michał', windows1250, 'Micha³'],
  ['Windows-1250', 'Wałęsa'.replace('ę', 'e'), windows1250, 'Wa³esa'],
  ['Windows-1251', 'Иван', windows1251, 'Èâàí'],
  ['Windows-1251', 'Ян', windows1251, 'ßí'],
  ['GBK', '李', gbk, 'Àî'],
  ['GBK', '李明', gbk, 'ÀîÃ÷'],
  ['Shift JIS', '鈴木', shiftJis, '—é–Ø'],
])('%s is not taken for Windows-1252: %s', async (_, text, page, read) => {
  expect(await refusalOf(bytes(`a,b\n${text},1\n`, page), 'p.csv')).toMatch(
    new RegExp(`^p\\.csv: byte [456789] is not UTF-8, and as Windows-1252 it would read "${read}"$`),
  )
})

test('what an old Mac saved has letters of its own, however likely they look', async () => {
  expect(await refusalOf(Buffer.from('a,b\rRen\x8E,1\r', 'latin1'), 'p.csv')).toContain('it would read')
  expect(await refusalOf(Buffer.from('a,b\rMart\x92nez,1\r', 'latin1'), 'p.csv')).toBe(
    'p.csv: byte 8 is not UTF-8, and as Windows-1252 it would read "Mart’nez"',
  )
})
