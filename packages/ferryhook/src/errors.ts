/** The errors that Ferryhook reports to its clients. */
import { defineErrors } from '@strongroom/kit/errors'
import { type RejectionReason, WriteRejected } from './storage/write-rejected.ts'

export const ferryhookError = defineErrors('ferryhook', {
  // Authentication
  unauthorized: [
    401,
    'Authentication required. Sign in, or send an API key as "Authorization: Bearer fh_live_…".',
  ],
  wrong_credentials: [401, 'The e-mail address or the password is wrong'],
  second_factor_required: [
    401,
    'The password is right, and a second factor is required. Continue with POST /v1/auth/second-factor within ten minutes.',
  ],
  sign_in_expired: [
    401,
    'The sign-in was finished, expired or tried too often. Start again with the first step.',
  ],
  session_ended: [401, 'The session has ended. Sign in again.'],
  permission_required: [
    403,
    'This API key lacks the permission in data. Use a key that has the permission.',
  ],
  session_required: [403, 'An API key cannot do this. Sign in and use the access token.'],
  foreign_origin: [
    403,
    'The request comes from a page of another origin. Send it from a page of this server.',
  ],

  // Accounts
  signup_closed: [
    403,
    'Sign-up is closed on this server. Ask the operator of the server for an account.',
  ],
  invite_required: [
    403,
    'Sign-up requires an invite. Ask the operator of this server for an invite.',
  ],
  invalid_invite: [403, 'The invite is invalid, expired or used. Ask the operator for a new one.'],
  invalid_reset: [403, 'The link is invalid, expired or used. Ask for a new one.'],
  invalid_verification: [
    403,
    'The link is invalid, expired, used or for another account. Sign in to the account and ask for a new one.',
  ],
  email_taken: [409, 'An account with this e-mail address exists. Sign in to that account.'],
  wrong_password: [403, 'The current password is wrong'],
  confirmation_required: [403, 'Confirm this change with your current password or a second factor'],
  mail_not_configured: [
    409,
    'This server cannot send mail. Its operator must set FERRYHOOK_SMTP_URL and FERRYHOOK_MAIL_FROM.',
  ],
  mail_failed: [
    502,
    'The mail server did not accept the mail. Check its log, or create an invite link instead.',
  ],
  session_not_found: [404, 'Session not found'],
  user_not_found: [404, 'User not found'],

  // Sign-in through a provider
  provider_not_configured: [404, 'Sign-in through this provider is not configured on this server'],
  sign_in_failed: [400, 'The provider did not confirm the sign-in. Start again.'],
  provider_unavailable: [
    502,
    'The provider is unreachable or returned an invalid response. Try again later.',
  ],
  email_unverified: [
    403,
    'The provider has no verified e-mail address for this user. Verify the address there first.',
  ],
  identity_taken: [409, 'This identity belongs to another account. Sign in to that account.'],
  only_sign_in: [409, 'The account has no other way to sign in. Set a password first.'],

  // Sources, connections and keys
  source_not_found: [404, 'Source not found'],
  connection_not_found: [404, 'Connection not found'],
  api_key_not_found: [404, 'API key not found'],
  event_not_found: [404, 'Event not found'],
  connection_changed: [
    409,
    'The connection was changed since it was read. Apply your change to the version in data.',
  ],
  plan_limit: [
    403,
    'The limit of the plan is reached; data has the limit. Delete one, or change the plan.',
  ],
  invalid_signing: [
    400,
    'The signing configuration is invalid. Correct the fields named in details.',
  ],
  invalid_destination: [
    400,
    'Events cannot be sent to this URL. Correct the fields named in details.',
  ],
  invalid_transform: [400, 'The transform cannot run. Correct the fields named in details.'],
  no_alert_webhook: [409, 'The alert settings have no webhook. Set a webhook URL first.'],
  no_secret: [409, 'The source has no signing secret. Set one first.'],
  source_paused: [409, 'The source is paused and rejects events. Resume it first.'],
  only_provider_signs: [
    409,
    'This provider signs with a private key that only it has. Send the event from the provider.',
  ],
  too_many_secrets: [
    409,
    'Too many signing secrets are active. Wait until one expires, or rotate without an overlap.',
  ],

  // Deliveries and replays
  test_request_not_found: [404, 'Test request not found'],
  delivery_not_found: [404, 'Delivery not found'],
  attempt_not_found: [404, 'Attempt not found'],
  delivery_ended: [409, 'The delivery has finished. Replay the event to deliver it again.'],
  delivery_in_progress: [409, 'An attempt is in progress. Check the event again in a moment.'],
  delivery_not_held: [409, 'The delivery is not held, so it cannot be released'],
  connection_paused: [
    409,
    'The connection is paused. Resume it to deliver the events that it holds.',
  ],
  run_open: [
    409,
    'Deliveries to the connections in data are still pending. Wait for them, or cancel them first.',
  ],
  no_connections: [409, 'The source has no connection to deliver to. Create one first.'],
  unverified_event: [
    403,
    'The signature of this event was invalid. An admin key can replay it with acceptUnverified: true.',
  ],
  unverified_replay: [
    400,
    'Events with an invalid signature cannot be replayed in bulk. Choose another status.',
  ],
  replay_not_found: [404, 'Replay not found'],
  replay_ended: [409, 'The replay has finished, so it cannot be cancelled'],
  too_many_streams: [429, 'Too many streams are open. Close one, or wait until one ends.'],

  // Ingest
  signature_failed: [
    401,
    'Signature verification failed. Check the signing secret and algorithm of this source.',
  ],
  month_limit: [
    429,
    'The monthly event limit of the plan is reached. Retry after the time in Retry-After.',
  ],
  headers_too_large: [
    431,
    'The headers exceed the size limit of an event. Send fewer or shorter headers.',
  ],
  loop: [
    508,
    'The event passed through Ferryhook too often. Check which connections deliver back to a source.',
  ],
  query_too_long: [
    414,
    'The query string exceeds the size limit of an event. Send the data in the body.',
  ],
})

type ErrorCode = Parameters<typeof ferryhookError>[0]

/**
 * For `.catch`: reports a rejected write as the error for its reason. Other errors, and reasons that
 * are not named, pass through.
 */
export function translate(codes: { readonly [Reason in RejectionReason]?: ErrorCode }) {
  return (error: unknown): never => {
    const code = error instanceof WriteRejected ? codes[error.reason] : undefined
    throw code === undefined ? error : ferryhookError(code)
  }
}
