import { UndecidedError } from '../errors/kinds.ts'
import { likelyReadings } from './likely-encodings.ts'

/**
 * Refuses a text whose bytes are no UTF-8 and that nobody has named an encoding for, with the likeliest ones.
 * `samples`: values of it, each byte a character (Latin-1).
 */
export async function undecidedEncoding(
  name: string,
  place: string,
  samples: readonly string[],
): Promise<UndecidedError> {
  const readings = await likelyReadings(samples)
  const says = ({ encoding, samples: texts }: (typeof readings)[number]): string =>
    `${encoding} (${texts.slice(0, 2).join(', ')})`
  const [first] = readings
  return new UndecidedError(`${name}: ${place} is not UTF-8, so its letters cannot be told for sure`, {
    about: 'encoding',
    hint:
      first === undefined
        ? 'Save it again as "CSV UTF-8", or name its encoding: --encoding NAME'
        : `Save it as "CSV UTF-8", or say what it is, such as --encoding ${first.encoding}. It may be ${readings.map(says).join(' or ')}.`,
    question: `${name} is not UTF-8. Which of these is right?`,
    answers: readings.map(({ encoding, of, samples: texts }) => ({
      value: encoding,
      label: `${texts.join(', ')} (${encoding}, ${of})`,
    })),
  })
}
