/** `1 row`, `2 rows`; `many` where an s is not enough. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
