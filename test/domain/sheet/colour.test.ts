import { expect, test } from 'vitest'

import { black, parseColour, isSameColour, applyTint, white } from '../../../src/domain/sheet/appearance.ts'

test.each([
  ['ffffff', 'FFFFFF'],
  ['fdfdfd', 'ffffff'],
  ['f2f2f2', 'ffffff'],
  ['4472c4', '4472c4'],
  ['000000', '0a0a0a'],
])('%s and %s are too similar to be distinguished, in either order', (text, background) => {
  const [one = white, other = black] = [parseColour(text), parseColour(background)]
  expect([isSameColour(one, other), isSameColour(other, one)]).toEqual([true, true])
})

test.each([
  ['d9d9d9', 'ffffff'],
  ['ffff00', 'ffffff'],
  ['ffffff', '4472c4'],
  ['404040', '000000'],
])('%s and %s can be distinguished', (text, background) => {
  expect(isSameColour(parseColour(text) ?? white, parseColour(background) ?? white)).toBe(false)
})

test('a colour is parsed from six hexadecimal digits, with or without opacity', () => {
  expect(['FF4472C4', '4472c4', '', '#ffffff', 'red'].map(parseColour)).toEqual([
    [68, 114, 196],
    [68, 114, 196],
    undefined,
    undefined,
    undefined,
  ])
})

test('a tint above 0 changes a colour towards white, and below 0 towards black', () => {
  expect([1, 0.5, 0, -0.5, -1].map((tint) => applyTint([100, 100, 100], tint))).toEqual([
    white,
    [177.5, 177.5, 177.5],
    [100, 100, 100],
    [50, 50, 50],
    black,
  ])
})
