import { defineErrors } from '@strongroom/kit/errors'

export const sealedError = defineErrors('sealed', {
  invalid_request: [400, 'The secret is not valid. Correct the fields named in details.'],
  invalid_token: [
    401,
    'The token is missing, invalid, expired or already used. Request a new one.',
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
