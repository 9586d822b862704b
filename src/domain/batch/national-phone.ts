/** A national number in E.164, or undefined where it is none of that country's. */
export type PhoneRepair = (text: string) => string | undefined
