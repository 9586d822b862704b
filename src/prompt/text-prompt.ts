import { createPrompt, isEnterKey, useEffect, useKeypress, useState } from '@inquirer/core'

import type { Look } from './look.ts'

interface TextConfig {
  message: string
  help: string
  initial: string
  check: (value: string) => string | undefined
  look: Look
}

/**
 * inquirer's input, with two things it lacks: a line of help, and the reason why an answer will not do
 * while it is being typed (mildly; firmly once Enter was pressed on it).
 */
export const textPrompt = createPrompt<string, TextConfig>(
  ({ message, help, initial, check, look }, done) => {
    const [line, setLine] = useState('')
    const [refused, setRefused] = useState(false)
    const [answer, setAnswer] = useState<string | undefined>(undefined)
    useEffect((readline) => {
      readline.write(initial)
      setLine(initial)
    }, [])
    useKeypress((key, readline) => {
      if (answer !== undefined) return
      if (!isEnterKey(key)) {
        setLine(readline.line)
        return
      }
      const text = line.trim()
      if (check(text) === undefined) {
        setAnswer(text)
        done(text)
        return
      }
      // Enter has emptied the line: what was typed comes back, to be mended.
      readline.write(line)
      setRefused(true)
    })

    const { prefix, style } = look
    if (answer !== undefined) return `${prefix.done} ${style.message(message)} ${style.answer(answer)}`
    const problem = line === '' && !refused ? undefined : check(line.trim())
    const tell = refused ? style.error : style.warning
    return [
      `${prefix.idle} ${style.message(message)} ${line}`,
      problem === undefined ? style.help(help) : tell(problem),
    ]
  },
)
