/** The errors of second factors, which services that have them share. */
import { defineErrors } from '../errors.ts'

export const secondFactorError = defineErrors('second-factor', {
  wrong_code: [
    403,
    'The code is wrong, expired or used. Enter the current code of your app, or a recovery code that you have not used.',
  ],
  locked: [
    429,
    'Too many wrong codes. Use a passkey or a recovery code, or wait for the time in Retry-After.',
  ],
  passkey_rejected: [
    403,
    'The passkey was not accepted. Start again with a passkey of this account, or use another second factor.',
  ],
  challenge_expired: [409, 'This request for a passkey is unknown, used or expired. Start again.'],
  passkeys_unavailable: [
    409,
    'Browsers allow passkeys only on https with a host name, or on localhost. Set PUBLIC_URL to such an address.',
  ],
  passkey_exists: [409, 'This passkey is already registered'],
  passkey_not_found: [404, 'Passkey not found'],
  too_many_passkeys: [409, 'This account has the maximum of 10 passkeys. Remove one first.'],
  setup_expired: [
    409,
    'The setup of the authenticator app was not started or has expired. Start again.',
  ],
  totp_not_found: [404, 'No authenticator app is set up'],
  not_enrolled: [409, 'No second factor is set up. Add an authenticator app or a passkey first.'],
})
