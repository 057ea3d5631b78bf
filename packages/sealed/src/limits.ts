/** Limits of a secret, shared by the server, the page and the CLI. Imports nothing. */

export const MIN_TTL_SECONDS = 15 * 60
export const MAX_TTL_SECONDS = 90 * 24 * 60 * 60

export const MAX_VIEWS = 5

/** Unless the operator has set others. */
export const DEFAULT_TTL_SECONDS = 24 * 60 * 60
export const DEFAULT_VIEWS = 1

/** Wrong passphrases before the secret is destroyed. */
export const MAX_PROOF_ATTEMPTS = 10

/** How long the same claim can read again without using another view. */
export const GRACE_SECONDS = 30

/** How long a request for a secret can be filled. */
export const MIN_REQUEST_SECONDS = 2 * 60 * 60
export const MAX_REQUEST_SECONDS = 7 * 24 * 60 * 60

/** How long a creation token is valid. Its id stays reserved for as long, so that it works only once. */
export const TOKEN_SECONDS = 300
