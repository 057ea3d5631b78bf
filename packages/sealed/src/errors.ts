import { defineErrors } from '@strongroom/kit/errors'

export const sealedError = defineErrors('sealed', {
  invalid_request: [400, 'The secret is not valid. Correct the fields named in details.'],
  invalid_token: [
    401,
    'The token is missing, invalid, expired or already used. Request a new one.',
  ],
  invalid_api_token: [
    401,
    'The API token is invalid, revoked or expired. Send a valid API token of Sealed, or none and a proof of work.',
  ],
  invalid_api_token_name: [
    400,
    'The name of an API token has 1 to 32 lower-case letters, digits and hyphens',
  ],
  invalid_api_token_limit: [400, 'An API token allows 1 to 1,000,000 secrets per hour'],
  invalid_api_token_expiry: [400, 'An API token is valid for at most ten years'],
  api_token_not_found: [404, 'API token not found. See "strongroom sealed token list".'],
  api_token_exists: [
    409,
    'An API token of this name exists. Choose another name, or revoke it first.',
  ],
  invalid_pow: [403, 'The proof of work does not match this secret and token. Repeat the work.'],
  // Only a holder of the link gets this.
  wrong_passphrase: [
    403,
    'The passphrase is wrong. The number of remaining tries is in data.triesLeft.',
  ],
  // One message for all cases that a reader without the link must not be able to distinguish.
  not_available: [
    404,
    'Secret not found. It never existed, was already viewed, was burned or has expired.',
  ],
  full: [507, 'The server has no room for more secrets. Try again later.'],
})
