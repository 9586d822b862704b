import { apiKeyLength } from '../../contract/headers.ts'

const longestShown = 60
const uuidStart = /^[0-9a-f]{8}-[0-9a-f]{4}-/i

/** An argument as a message may repeat it: a key or token pasted in the wrong place is not echoed. */
export function redactArgument(argument: string): string {
  // Neither a URL nor an e-mail.
  const isToken = argument.length >= 20 && /^[!-9;-?A-~]+$/.test(argument)
  const isKey = argument.length === apiKeyLength && /^[!-~]+$/.test(argument)
  if ((isToken || isKey) && !uuidStart.test(argument)) return '…'
  return argument.length > longestShown ? `${argument.slice(0, longestShown)}…` : argument
}

/** Whether a word of a command line can hardly be anything but an API key: a name or a path of that length has a separator. */
export function isKeyLike(word: string): boolean {
  return word.length === apiKeyLength && /^(?=.*\d)(?=.*[a-z])[a-z\d]+$/i.test(word)
}
