/** What clients of Ferryhook may be told. */
import { defineErrors } from '@strongroom/kit/errors'

export const ferryhookError = defineErrors('ferryhook', {
  // Who is asking
  unauthorized: [401, 'Sign in, or send an API key as "Authorization: Bearer fh_live_…"'],
  wrong_credentials: [401, 'E-mail address or password is wrong'],
  session_ended: [401, 'The session has ended: sign in again'],
  permission_required: [403, 'This API key may not do this: use one with the permission in data'],
  session_required: [403, 'Only a signed-in user may do this: sign in, an API key is not enough'],
  foreign_origin: [403, 'The request comes from a page of another origin: use the server’s own'],

  // Accounts
  signup_closed: [403, 'Signing up is closed on this server: ask its operator'],
  invite_required: [403, 'Signing up needs an invite: ask the operator of this server for one'],
  invalid_invite: [403, 'The invite is not valid, or was used: ask the operator for a new one'],
  invalid_reset: [403, 'The link is not valid, or was used: ask the operator for a new one'],
  email_taken: [409, 'There is an account with this e-mail address: sign in with it'],
  wrong_password: [403, 'The current password is wrong'],
  mail_not_configured: [
    409,
    'This server sends no mail: its operator has to set FERRYHOOK_SMTP_URL and FERRYHOOK_MAIL_FROM',
  ],
  mail_failed: [502, 'The mail server did not take the mail: see its log, or hand over the link'],
  user_not_found: [404, 'There is no such user'],

  // Sign-in through a provider
  provider_not_configured: [404, 'Sign-in through this provider is not configured on this server'],
  sign_in_failed: [400, 'The provider did not confirm the sign-in: start again'],
  provider_unavailable: [502, 'The provider cannot be reached or answers wrongly: try again later'],
  email_unverified: [403, 'The provider has not verified an e-mail address: verify it there first'],
  identity_taken: [409, 'This identity belongs to another account: sign in with it there'],
  only_sign_in: [409, 'This is the only way to sign in: set a password first'],

  // Sources, connections and keys
  source_not_found: [404, 'There is no such source'],
  connection_not_found: [404, 'There is no such connection'],
  api_key_not_found: [404, 'There is no such API key'],
  event_not_found: [404, 'There is no such event'],
  plan_limit: [403, 'The plan allows no more: data says how many; delete one, or ask for more'],
  invalid_signing: [400, 'The signing configuration is not valid: correct what details name'],
  invalid_destination: [400, 'Events cannot be sent to this URL: correct what details name'],
  invalid_transform: [400, 'The transform cannot run: correct what details name'],
  no_alert_webhook: [409, 'There is no webhook for alerts: set its address first'],
  no_secret: [409, 'The source has no signing secret yet: set one first'],
  too_many_secrets: [
    409,
    'Too many secrets are in force: wait until one ends, or rotate without an overlap',
  ],

  // Deliveries and replays
  delivery_not_found: [404, 'There is no such delivery'],
  delivery_ended: [409, 'The delivery has ended: replay the event to have it delivered again'],
  delivery_in_progress: [
    409,
    'An attempt is under way or about to begin: look at the event again in a moment',
  ],
  delivery_not_held: [409, 'The delivery is not held: there is nothing to release'],
  connection_paused: [409, 'The connection is paused: resume it, and what it holds is delivered'],
  run_open: [
    409,
    'The event is still being delivered to the connections in data: wait, or cancel that first',
  ],
  no_connections: [409, 'The source has no connection to deliver to: create one first'],
  unverified_event: [
    403,
    'The signature of the event was not right: who may vouch for it replays it with acceptUnverified',
  ],
  unverified_replay: [
    400,
    'Events whose signature was not right are never replayed together: choose another status',
  ],
  replay_not_found: [404, 'There is no such replay'],
  replay_ended: [409, 'The replay has ended: there is nothing to cancel'],
  too_many_streams: [429, 'Too many streams are open: close one, or wait until one ends'],

  // Receiving events
  signature_failed: [401, 'The signature is not right: sign the request as this source expects it'],
  month_limit: [
    429,
    'The events of this month are used up: wait as long as the Retry-After header says',
  ],
  headers_too_large: [
    431,
    'The headers are longer than an event keeps: send fewer or shorter ones',
  ],
  query_too_long: [414, 'The query is longer than an event keeps: put what it says into the body'],
})
