/** What is worth telling, though it breaks no sentence; it travels among findings and is taken out of them at the end. */
const mark = 'advice: '

export const advise = (text: string): string => mark + text

/** Findings and advice apart, each once; paths in arrays are merged into one. */
export function apart(lines: readonly string[]): { findings: string[]; advice: string[] } {
  const advice = lines
    .filter((line) => line.startsWith(mark))
    .map((line) => line.slice(mark.length).replaceAll(/\[\d+\]/g, '[]'))
  return {
    findings: [...new Set(lines.filter((line) => !line.startsWith(mark)))],
    advice: [...new Set(advice)],
  }
}
