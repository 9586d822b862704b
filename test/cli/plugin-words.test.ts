import { expect, test } from 'vitest'

import { setupText } from '../../src/cli/plugin-words.ts'

test('completion is set up by lines that can be pasted, in our words', () => {
  expect(setupText('bash')).toBe(`Run this once. It adds a line to ~/.bashrc, which bash reads when it starts:

  printf "$(refcheck autocomplete script bash)" >> ~/.bashrc; source ~/.bashrc

If your terminal opens login shells, name ~/.bash_profile in place of ~/.bashrc.

Then press TAB twice after the start of a command, or of a flag:

  refcheck batch
  refcheck batch run --
`)
  expect(setupText('zsh')).toContain(
    'autocomplete script zsh)" >> ~/.zshrc; source ~/.zshrc\n\nThen press TAB after',
  )
  expect(setupText('powershell')).toContain(
    '-Command "refcheck autocomplete script powershell"); .$PROFILE\n',
  )
})
