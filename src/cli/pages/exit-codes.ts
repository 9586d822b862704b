/** The text of `refcheck help exit-codes`. */
export default `EXIT CODES
  Every command ends with one of these. With --json a failure also prints
  {"error": {"code", "message", "hint", …}} on stdout. SIGTERM ends what runs
  until it is stopped (webhook listen, worker, sandbox start) with 0.

  CODE  ERROR.CODE                         MEANING
  0     -                                  done
  1     internal, io                       a bug of refcheck, or the disk failed
  2     usage, invalid_input, duplicate    wrong flags, invalid input, or an
                                           order that was made before
  3     unauthenticated                    no API key, or the key was refused
  4     forbidden                          membership, role, credits, trial or
                                           subscription
  5     not_found                          no such request, check, package …
  6     throttled                          the quota is used up for longer than
                                           --timeout
  7     unavailable                        the service is unreachable or failed;
                                           nothing was created
  8     outcome_unknown                    an order may or may not have been
                                           accepted
  9     bad_signature                      a webhook signature does not match
  10    incomplete                         finished, but not all of it: rows not
                                           accepted, reports unavailable, a
                                           receiver that failed its test
  11    timed_out                          the time limit of a wait was reached
  130   interrupted                        Ctrl-C; what was recorded is kept

EXIT CODE OF A BATCH
  batch run and batch resume end with the first of these that applies:
    130   you pressed Ctrl-C
    8     the outcome of a row, or of an order that it repeats, is unknown
    3-7   the batch was halted by this error (1 if the store was closed)
    10    rows wait (held, or in another batch), or something was sent and not
          everyone is ordered, or the others were left out on purpose
    2     nothing was sent, and no row waits
    0     everyone in the file is ordered, now or before

WHAT TO DO AFTER EXIT 8
  Do not order the same person again. The order is recorded as "unknown" and
  refcheck refuses to repeat it. Settle it:

    $ refcheck request list --status unknown
    $ refcheck batch reconcile

  See also: refcheck help safety

IN A SCRIPT
    refcheck batch run people.csv --package 102 --yes --json > result.json
    case $? in
      0)  echo 'all accepted' ;;
      8)  echo 'settle first: refcheck batch reconcile' ;;
      10) refcheck batch rows "$(jq -r .batch_id result.json)" ;;
    esac
`
