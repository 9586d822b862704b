/** What spreadsheets show for TRUE and FALSE, in the languages that they run in. */
const yes =
  /^(?:true|wahr|vrai|verdadero|verdadeiro|vero|waar|prawda|pravda|igaz|sant|sann|sand|tosi|do[gğ]ru|adev[aă]rat|cert|истина)$/iu
const no =
  /^(?:false|falsch|faux|falso|onwaar|fa[lł]sz|nepravda|hamis|usant|falskt?|falsk|ep[aä]tosi|yanl[ıi]ş|fals|ложь)$/iu

/** Whether a word that is shown for a boolean says its value: a format may well show TRUE as "No". */
export function saysBoolean(word: string, value: boolean): boolean {
  return (value ? yes : no).test(word)
}
