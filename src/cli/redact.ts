const longestShown = 60

/** An argument as a message may repeat it: a key or token pasted in the wrong place is not echoed. */
export function redact(argument: string): string {
  const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(argument)
  if (!isUuid && argument.length >= 20 && /^[\w+/=.~-]+$/.test(argument)) return '…'
  return argument.length > longestShown ? `${argument.slice(0, longestShown)}…` : argument
}
