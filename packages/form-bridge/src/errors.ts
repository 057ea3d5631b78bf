/** What sites, agencies and operators may be told. What a plugin does at each: docs/form-bridge-protocol.md */
import { defineErrors } from '@strongroom/kit/errors'

export const formBridgeError = defineErrors('form-bridge', {
  // Connecting
  domain_invalid: [400, 'A site can only be connected at an address on the internet: correct it'],
  https_required: [400, 'The site must be reached by https: give its https address'],
  blocked: [403, 'Too much abuse came from here: wait as long as the Retry-After header says'],
  join_token_invalid: [403, 'The join token is not valid, or was used up: ask the agency for one'],
  agency_closed: [403, 'The agency takes no sites now: ask it'],
  agency_full: [409, 'The agency has as many sites as it may have: ask it for more room'],
  registration_invalid: [404, 'There is no such registration, or its time is over: register again'],
  proof_failed: [403, 'The domain was not proved: data.attempts says what to correct for each way'],
  previous_key_invalid: [403, 'The previous key is not a key of this site: leave it out'],
  domain_has_site: [409, 'The domain has a site already: reconnect it instead of moving here'],
  changed_meanwhile: [409, 'Somebody else changed the same at this moment: try again'],

  // Requests of sites
  unauthorized: [401, 'The credentials are missing or not valid: reconnect the site'],
  timestamp_out_of_range: [
    401,
    'The clock is too far off: sign again with the time in data.server_time',
  ],
  nonce_used: [401, 'The nonce was used before: sign again with a new one'],
  signature_required: [403, 'A key is not enough to change something: sign the request'],
  site_suspended: [403, 'The site is suspended: ask the operator of the server'],
  site_disabled: [403, 'The site was disconnected: connect it anew'],
  site_moved: [409, 'The site is at another address than the one it was connected at: choose'],
  rate_limited: [429, 'Too many requests: wait as long as the Retry-After header says'],

  // Submissions
  confirmation_needed: [409, 'The site was reconnected without its old key: have it confirmed'],
  no_destination: [409, 'Nobody has said where submissions go: ask the operator of the server'],
  destination_refused: [502, 'The destination refused the submission: try again later'],
  destination_unreachable: [503, 'The destination did not answer: try again later'],

  // Updates and releases
  plugin_not_found: [404, 'There is no release of this plugin'],
  version_not_found: [404, 'There is no such release, or it was withdrawn'],
  download_token_invalid: [403, 'The link is not valid any more: check for updates again'],
  release_key_missing: [409, 'No release key is configured: set FORM_BRIDGE_RELEASE_KEYS'],
  release_unsigned: [403, 'The signature is not one of a release key over this package: sign it'],
  release_invalid: [400, 'The package cannot be published: correct what details name'],
  release_exists: [409, 'This version was published before, or is being uploaded: raise it'],
  release_older: [409, 'A newer version was published before: raise the version'],

  // Agencies and operators
  agency_unauthorized: [401, 'This needs the key of an agency: send "Authorization: Bearer …"'],
  agency_suspended: [403, 'The agency is suspended: ask the operator of the server'],
  agency_not_found: [404, 'There is no such agency'],
  site_not_found: [404, 'There is no such site'],
  wrong_status: [409, 'The site does not have the status for this: data.status is the one it has'],
  join_token_not_found: [404, 'There is no such join token'],
  override_not_found: [404, 'There is no such exception from the limits'],
  pattern_not_found: [404, 'No such pattern is known of this identifier'],
  destination_invalid: [400, 'Submissions cannot be sent to this URL: correct what details name'],
})
