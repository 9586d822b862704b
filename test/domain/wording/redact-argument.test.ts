import { expect, test } from 'vitest'

import { findKeys, redactArgument, redactKeys } from '../../../src/domain/wording/redact-argument.ts'

test.each([
  ['list', 'list'],
  ['3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'],
  ['EqQm4LRGWP4mk2aEguhezNLhRkBuyRra', '…'],
  ['EqQm4LRGWP4mk2aEguhe', '…'],
  ['https://hr.example.com/hooks', 'https://hr.example.com/hooks'],
  ['EqQm4LRGWP4mk2aEguh', 'EqQm4LRGWP4mk2aEguh'],
  ['a/b\\c"d(e&f=g%h<i>j\'k0123456789', '…'],
  ['a sentence that is rather long and surely no key', 'a sentence that is rather long and surely no key'],
])('an argument that may be a key is redacted: %j', (argument, shown) => {
  expect(redactArgument(argument)).toBe(shown)
})

test('a long argument is cut', () => {
  const words = 'word '.repeat(12)
  expect(redactArgument(words)).toBe(words)
  expect(redactArgument(`${words}x`)).toBe(`${words}…`)
})

const ordinaryTexts = [
  'postgres://hr@ep-cool-darkness-a1b2c3d4.us-east-2.aws.neon.tech/refcheck',
  'mydb.c9akciq32xyz.eu-west-1.rds.amazonaws.com',
  'c-hr.abcdefghijkl1234.postgres.cosmos.azure.com',
  'PeopleForNovemberInMelbourne2026.xlsx',
  'PeopleForNovemberInMelbourne2026',
  'applicants-november-2026-v2.xlsx',
  'Bewerberliste_November_2026_endgueltig.csv',
  'BEWERBER_NOVEMBER_2026_MUENCHEN.XLSX',
  'Personalabteilung-Hintergrundpruefungen.xlsx',
  'Rechtsschutzversicherungsgesellschaften.csv',
  'Donaudampfschifffahrtsgesellschaft.xlsx',
  'ListeDesCandidatsPourLeMoisDeNovembre.xlsx',
  'candidatos_seleccionados_noviembre_2026.csv',
  'candidatos-admitidos-segundo-semestre-2026.ods',
  'ListaKandydatowNaListopad2026Wroclaw.csv',
  'lista_pracownikow_szczecin_pazdziernik.xlsx',
  'Sollicitanten-Rijswijk-november-2026.xlsx',
  'medarbetare_goteborg_november_2026.csv',
  'tyontekijat_helsinki_marraskuu_2026.csv',
  'munkavallalok_budapest_november_2026.csv',
  'zamestnanci-praha-listopad-2026.xlsx',
  'Calisanlar_Istanbul_Kasim_2026.xlsx',
  'daftar_karyawan_jakarta_november.csv',
  'danh_sach_ung_vien_thang_11_2026.xlsx',
  'nyuusha-yoteisha-ichiran-2026-11.xlsx',
  'NewStartersQ4FY2026MelbourneOffice.xlsx',
  'new-starters-q4-fy26-melbourne-v3-final.csv',
  'NewHires20261123Sydney.csv',
  'Screenshot_20261123-150436.png',
  'export_2026-11-23T15-04-36Z.json',
  '2026-11-23T15:04:36.123+11:00',
  '2026-11-23T15:04:36Z',
  'report-20261123150436-final.pdf',
  'Copy of People for November (2).xlsx',
  'people.november.2026.melbourne.csv',
  'background_check_standard_package',
  'ReferenceCheckWithTwoRefereesPackage',
  '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  '3F2B8C1E-5D4A-4C7B-9E21-0A6F8D3B7C55',
  '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55.pdf',
  'report-3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  'https://hr.example.com/hooks/refcheck/deliveries',
  'https://checks.melbourne.example.com/v1/requests',
  'https://hr.example.com/v1/reports/3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  'http://127.0.0.1:8080/webhooks/refcheck',
  'christopher.featherstonehaugh@example.com',
  'anna-maria.schwarzenegger-mueller@example.de',
  'firstname.lastname+november2026@example.com',
  'maximilian.mustermann@verwaltung.example.de',
  '/home/ann/Documents/HR/people-november-2026.csv',
  'C:\\Users\\Ann\\Documents\\Checks2026\\November.xlsx',
  '../november/melbourne/applicants/people.csv',
  '/Users/ann/Library/CloudStorage/OneDrive/Checks/November2026.xlsx',
  '\\\\fileserver\\hr\\2026\\november\\people.csv',
  'exports/2026/11/23/melbourne-office-people.csv',
  '+61412345678',
  'first_name,last_name,email,phone',
  'background_checks_in_progress',
  'organisation-wide-onboarding-batch',
  'TheQuickBrownFoxJumpsOverTheLazyDog',
  'internationalisation-and-localisation',
  'verylongprofilenamewithoutanyseparators',
  'melbourne_production_environment_2',
  'checkReferencesBeforeStartDate2026v2',
  'InterimReport_ForTheHRTeam_ABC_2026.csv',
  'KXRT-WMPH-and-some-more-words',
  'node_modules/refcheck/dist/commands/index.js',
  'EmployeesMarch2025toOctober2026.csv',
  'HRBP_APAC_NewJoiners_2026Q4_v12_FINAL2.xlsx',
  'sandbox-demo-customer-onboarding-2026',
  '--first-name-of-the-second-referee',
  'REFCHECK_MELBOURNE_WEBHOOK_SECRET',
  'postgres-primary.internal.example.com',
]

test('names of files and profiles, addresses, ids, dates and e-mail addresses are not redacted', () => {
  expect(ordinaryTexts.filter((each) => redactKeys(each) !== each || findKeys(each).length > 0)).toEqual([])
})

const keys = [
  'EqQm4LRGWP4mk2aEguhezNLhRkBuyRra',
  'k14F1C9A77D0E2B83AA65D9F04C7E1B2',
  '9f86d081884c7d659a2feaa0c55ad015',
  'tP8-x_Zq03LmVb7RkY1sWn-5HdJ_cG2f',
  'u7Qw/9+XbLr2TzKp4Vn8Yc1DsEh6Jg0=',
]
const decorations: ((key: string) => string)[] = [
  (key) => `${key} `,
  (key) => ` ${key}`,
  (key) => `Bearer ${key}`,
  (key) => `X-Service-API-Key: ${key}`,
  (key) => `‘${key}’`,
  (key) => `“${key}”`,
  (key) => `"${key}"`,
  (key) => `<${key}>`,
  (key) => `(${key})`,
  (key) => `--${key}`,
  (key) => `--api-key=${key}`,
  (key) => `${key},`,
  (key) => `${key};`,
  (key) => `${key}.`,
  (key) => `${key}\n`,
  (key) => `key=${key}`,
  (key) => `{"key":"${key}"}`,
  (key) => `https://hr.example.com/v1/requests/${key}`,
  (key) => `https://hr.example.com/hooks?x=${key}`,
  (key) => `${key}@example.com`,
  (key) => `\u00A0${key}\u200B`,
  (key) => Array.from(key).join('\u200B'),
  (key) => key.replaceAll(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
  (key) => `ключ${key}`,
  (key) => `exports/2026/${key}.csv`,
]

test('a key is redacted, whatever text is next to it', () => {
  const shown = keys.flatMap((key) =>
    decorations
      .map((decorate) => decorate(key))
      .filter((text) => {
        const redacted = redactArgument(text)
          .normalize('NFKC')
          .replace(/\u200B/g, '')
        return Array.from({ length: 25 }, (_, at) => key.slice(at, at + 8)).some((part) =>
          redacted.includes(part),
        )
      }),
  )
  expect(shown).toEqual([])
})

test.each(['t', 'token', 'access_token', 'api_key', 'key', 'X-Signature', 'sig', 'client-secret'])(
  'any value of a query parameter %s is redacted',
  (name) => {
    expect(redactArgument(`https://hr.example.com/a?${name}=SECRET&x=1`)).toBe(
      `https://hr.example.com/a?${name}=…&x=1`,
    )
  },
)
