/**
 * Words of refcheck's own sentences and commands. They are not masked as names in lowercase, and in hints in any case,
 * even if a person has such a name (`File`, `An`): otherwise no sentence could be read and no command pasted. Frequent
 * names that refcheck seldom uses as words (`mark`) are not in the list.
 */
export const ownWords = new Set(
  `
  a about above accept accepted account accounts acknowledged active add added additional address addresses
  advance after again agent agents ago all allow allowed already also an and another answer answered answers any
  approve approved approves are argument arguments as ask asked asks at attempt attempts auth away background
  backup backups bad base batch batches be because been before began begins belong belongs between body both break
  but by bytes call calls came can cancel cancelled cannot case cell cells certificate change changed changes
  character characters check checked checks choose clock close closed code codes column columns combined come
  command commands complete completed completion config configuration confirm conflict connection contains
  continue copied copy correct could count counted country counts create created current damaged data database
  date dates day days decision default delete deleted delivered deliveries delivery different differs digits disk
  do doctor does done download downloaded downloading drop dropped dry duplicate duplicates e-mail e-mails each
  earlier either else email emails empty encoding end ended ends entries entry environment error errors even event
  events every example exist exists exit expected expired export failed fails failure fault field fields file
  files fill find finds finished first fix fleet folder folders follow for force format forward forwarded found
  free from full get give given go goes had has have he header held help hex hidden hint hold holds hour hours how
  html http https id ids if import in inbox incomplete information input instead interrupted into invalid is it
  item its itself json keep keeps kept key keychain keys kind known large last later left length less limit line
  lines list listed listen lists local lock locked log login logout logs long longer look looks lost machine
  machines made mail make makes many map mapping match matches may me memory message milliseconds minute minutes
  missing mode more most move moved must my name named names nearest need needed needs network never new newer
  newest next no nobody none nor not nothing now null number numbers of off old older on once one ones only open
  opened option or order ordered ordering orders organisation other others our out outcome output outside over own
  owner package packages part pass password path paths pdf people pending per permissions person phone phones ping place
  plan planned please port possible prefix print prints private problem problems process processes profile
  profiles program programs proxy purge put queue queued quota quoted quotes ran raw reach reached read reader
  reading reads ready reason received receiver recipient reconcile record recorded records refused release
  released remove removed repeat repeated replace replaced replay report reported reports request requested
  requests require required requires reset resolve restart restore restored restores result results resume retried
  retries retry right rotate row rows rule rules run runner running runs same sandbox save saved say says schema
  schemas script second seconds secret secrets section see seen select send sending sends sent server service
  services set sets setting settings settle several sha she sheet sheets short should show shown shows signature
  similar since single size skip skipped so some somebody something space start started starts state states status
  stays stdin still stop stopped stops store stored stores string sure survey switch switched sync system table
  take taken takes tell tells template terminal test than that the their them then there these they this those
  through time timed times to token too tries trigger try twice two type typed types unavailable under unfinished
  unique unknown until up update updated url use used user users uses value values verified verify version wait
  waiting waits want was watch way we webhook were what when where whether which while who whole whose will window
  with within without words work workbook worker workers works write writes written wrong xlsx year yes yet you
  your
  `
    .trim()
    .split(/\s+/),
)

/** Words of names of form fields, in addition to `ownWords`. */
export const formWords = new Set(
  'birth city country degree document employer expiry gender issue job licence license middle passport phone postcode previous province referee referees reference region relationship residential school street suburb tax title volunteer years zip annual history income position relationships employment'.split(
    ' ',
  ),
)

/** Words of names of batch files, in addition to `ownWords`. Any other word of such a name may be a person's name. */
export const batchFileWords = new Set(
  'applicant applicants april august book candidate candidates contractor contractors copy december draft driver drivers employee employees february final forms group hire hires hiring interns invite invites january joiners july june march monthly november nurses october onboarding persons q1 q2 q3 q4 quarter recruits round sample september staff starters starting students teachers team upload volunteer volunteers wave week weekly xls'.split(
    ' ',
  ),
)
