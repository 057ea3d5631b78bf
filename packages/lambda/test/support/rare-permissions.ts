/**
 * Permissions that no scenario uses, and what in the code of the services needs them. Each is a
 * candidate for a scenario or for removal; one that is neither used nor listed fails the tests.
 */
const ALERTS =
  'an alert about a limit: reads the source and its owner, stores that a webhook failed'
const MOVES = 'a site that moves or reconnects: its memberships and old keys go with it'
const SECURITY = 'a security event or an abuse pattern of a client'
const VALIDATION = 'a validation of a domain that exists: its result is kept and its history counts'
const RELEASES = 'the newest release is no longer cached or was withdrawn'
const ANY_FIRST = 'any function may be the first to need a server secret'

export const rarePermissions: Readonly<Record<string, string>> = {
  'ferryhook-ingest Query ferryhook-main': ALERTS,
  'ferryhook-ingest UpdateItem ferryhook-main': ALERTS,
  'ferryhook-ingest UpdateItem ferryhook-events': 'an account whose plan has a monthly limit',
  'ferryhook-worker DeleteItem ferryhook-main': 'a purge whose process stopped',
  'ferryhook-worker ConditionCheckItem ferryhook-main': 'a purge whose process stopped',
  'ferryhook-worker Query ferryhook-main GSI3': 'a delivery whose connection is not cached',
  'ferryhook-worker ConditionCheckItem ferryhook-events': 'an event for more than 40 connections',
  'form-bridge-register Query form-bridge-plugin-auth SITE#*': SECURITY,
  'form-bridge-register PutItem form-bridge-plugin-auth FAILED#* ABUSE#*': SECURITY,
  'form-bridge-exchange DeleteItem form-bridge-plugin-auth SITE#* SITEID#* API#* AGENCY#*': MOVES,
  'form-bridge-exchange ConditionCheckItem form-bridge-plugin-auth SITE#* SITEID#* API#* AGENCY#*':
    MOVES,
  'form-bridge-exchange GetItem form-bridge-plugin-auth SITEID#*': MOVES,
  'form-bridge-exchange Query form-bridge-plugin-auth SITEID#*': MOVES,
  'form-bridge-exchange DeleteItem form-bridge-plugin-auth SITEID#*': MOVES,
  'form-bridge-exchange PutItem form-bridge-plugin-auth NONCE#*': MOVES,
  'form-bridge-validate Query form-bridge-plugin-auth SITE#*': VALIDATION,
  'form-bridge-validate GetItem form-bridge-plugin-auth VALIDATION#*': VALIDATION,
  'form-bridge-validate PutItem form-bridge-plugin-auth VALIDATION#*': VALIDATION,
  'form-bridge-validate Query form-bridge-plugin-auth GSI1 ABUSE_TRACKING#*': VALIDATION,
  'form-bridge-site UpdateItem form-bridge-plugin-auth AGENCY#*': 'a member of an agency leaves',
  'form-bridge-site DeleteItem form-bridge-plugin-auth AGENCY#*': 'a member of an agency leaves',
  'form-bridge-site DeleteItem form-bridge-plugin-auth SITEID#*': 'a member of an agency leaves',
  'form-bridge-site PutItem form-bridge-plugin-auth FAILED#* ABUSE#*': SECURITY,
  'form-bridge-site PutItem form-bridge-plugin-auth PLUGIN_VERSION#latest': RELEASES,
  'form-bridge-updates Query form-bridge-plugin-auth PLUGIN#* PACKAGE#*': RELEASES,
  'form-bridge-updates PutItem form-bridge-plugin-auth PLUGIN_VERSION#latest': RELEASES,
  'form-bridge-updates DeleteItem form-bridge-plugin-auth PLUGIN_VERSION#latest': RELEASES,
  'form-bridge-updates GetItem form-bridge-plugin-auth UPDATE_CHECK#* ADOPTION#*':
    'a site that checks again after an update',
  'form-bridge-updates PutItem form-bridge-plugin-auth FAILED#* ABUSE#*': SECURITY,
  'form-bridge-agency PutItem form-bridge-plugin-auth FAILED#* ABUSE#*': SECURITY,
  'form-bridge-agency Query form-bridge-plugin-auth ABUSE#*': SECURITY,
  'form-bridge-agency PutItem strongroom-server SECRET#form-bridge-addresses SECRET#form-bridge-cursors':
    ANY_FIRST,
  'form-bridge-agency DeleteItem strongroom-server SECRET#form-bridge-addresses SECRET#form-bridge-cursors':
    ANY_FIRST,
  'form-bridge-agency kms:Encrypt': ANY_FIRST,
  'two-key-handler DeleteItem slack-workspace-tokens': 'an app that was uninstalled',
  'two-key-handler DeleteItem slack-event-dedupe': 'an app that does not accept an event',
  'server ConditionCheckItem strongroom-server OPERATOR#*': 'a change of second factors',
  'jobs GetItem strongroom-operations JOB#* JOBS JOBS#RUNNING': 'a step whose lease was lost',
}
