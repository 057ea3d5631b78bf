import { defineErrors } from '@strongroom/kit/errors'

export const sealedError = defineErrors('sealed', {
  invalid_request: [400, 'The secret is not valid: correct the fields named in details'],
  invalid_token: [401, 'The token is missing, wrong, expired or used: ask for a new one'],
  invalid_pow: [403, 'The proof of work does not fit this secret and this token: do the work anew'],
  // Told to holders of the link only.
  wrong_passphrase: [
    403,
    'The passphrase is wrong: data.triesLeft says how often it may still be tried',
  ],
  // One text for everything that a reader without the link must not tell apart.
  not_available: [404, 'There is no such secret, or it is not there any more'],
  full: [507, 'No room is left for further secrets: try again later'],
})
