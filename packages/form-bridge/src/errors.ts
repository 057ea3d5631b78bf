/** Errors for sites, agencies and operators. docs/form-bridge-protocol.md says how the plugin reacts. */
import { defineErrors } from '@strongroom/kit/errors'

export const formBridgeError = defineErrors('form-bridge', {
  // Connecting
  domain_invalid: [400, 'The site address is not public. Use a public address.'],
  https_required: [400, 'The site address does not use https. Use the https address.'],
  blocked: [
    403,
    'This address is temporarily blocked because of repeated failures. Retry after the time in Retry-After.',
  ],
  join_token_invalid: [
    403,
    'The join token is not valid or is used up. Ask the agency for a new one.',
  ],
  agency_closed: [403, 'The agency does not accept new sites. Contact the agency.'],
  agency_full: [
    409,
    'The agency has reached its site limit. Ask the agency to have the limit raised.',
  ],
  registration_invalid: [404, 'Registration not found or expired. Register again.'],
  proof_failed: [
    403,
    'The domain could not be proved. Fix the problems in data.attempts and try again.',
  ],
  previous_key_invalid: [403, 'The previous key is not a key of this site. Leave it out.'],
  domain_has_site: [409, 'The domain already has a site. Reconnect that site instead.'],
  changed_meanwhile: [409, 'Another request changed the same data. Try again.'],

  // Requests of sites
  unauthorized: [401, 'The credentials are missing or not valid. Reconnect the site.'],
  timestamp_out_of_range: [
    401,
    'The timestamp is too far off. Sign again with the time in data.server_time.',
  ],
  nonce_used: [401, 'The nonce was used before. Sign again with a new nonce.'],
  signature_required: [403, 'This request must be signed. An API key is not enough.'],
  keys_replaced: [
    403,
    'These keys were replaced by a rotation. Use the current keys, or reconnect the site.',
  ],
  site_suspended: [403, 'The site is suspended. Contact the operator of the server.'],
  site_disabled: [403, 'The site was disconnected. Connect it again.'],
  site_moved: [
    409,
    'The site address has changed since the site was connected. Choose one of data.choices.',
  ],
  rate_limited: [429, 'Too many requests. Retry after the time in Retry-After.'],

  // Submissions
  confirmation_needed: [
    409,
    'The site was reconnected without its old key. Ask the operator or the agency to confirm it.',
  ],
  no_destination: [
    409,
    'The server has no destination for submissions yet. Ask its operator to set one.',
  ],
  destination_refused: [502, 'The destination refused the submission. Try again later.'],
  destination_unreachable: [503, 'The destination cannot be reached. Try again later.'],

  // Updates and releases
  plugin_not_found: [404, 'Plugin not found'],
  version_not_found: [404, 'Release not found or withdrawn'],
  download_token_invalid: [403, 'The download link is no longer valid. Check for updates again.'],
  release_key_missing: [409, 'No release key is configured. Set FORM_BRIDGE_RELEASE_KEYS.'],
  release_unsigned: [
    403,
    'The signature does not match the package and a release key. Sign the package again.',
  ],
  release_invalid: [400, 'The package cannot be published. Fix the problems in details.'],
  release_exists: [
    409,
    'This version is already published or being uploaded. Increase the version.',
  ],
  release_older: [409, 'A newer version is already published. Increase the version.'],

  // Agencies and operators
  agency_unauthorized: [401, 'An agency key is required. Send it as "Authorization: Bearer …".'],
  agency_suspended: [403, 'The agency is suspended. Contact the operator of the server.'],
  role_required: [
    403,
    "The agency's role for this site, in data.role, does not allow this. Ask the operator of the server to change it.",
  ],
  agency_not_found: [404, 'Agency not found'],
  site_not_found: [404, 'Site not found'],
  wrong_status: [409, 'The status of the site does not allow this. It is in data.status.'],
  validation_not_found: [404, 'Validation not found or expired'],
  join_token_not_found: [404, 'Join token not found'],
  override_not_found: [404, 'Rate limit override not found'],
  pattern_not_found: [404, 'Abuse pattern not found'],
  destination_invalid: [
    400,
    'Submissions cannot be sent to this destination. Fix the problems in details.',
  ],
})
