/** `1 run is`, `2 runs are`. */
export function inWords(runs: number): string {
  return runs === 1 ? '1 run is' : `${runs} runs are`
}
