import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The text of Pico CSS. The build replaces this module by one that contains the text: see build/plugins.ts. */
export const pico = readFileSync(fileURLToPath(import.meta.resolve('@picocss/pico/css/pico.min.css')), 'utf8')
