import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Pico CSS as it is published. The build replaces this file by its text: see build/plugins.ts. */
export const pico = readFileSync(fileURLToPath(import.meta.resolve('@picocss/pico/css/pico.min.css')), 'utf8')
