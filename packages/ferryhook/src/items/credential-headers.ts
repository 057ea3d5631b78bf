/**
 * Headers whose value is a secret itself, not a signature made with one: whoever reads it can pass
 * for the sender. They are seen by the check of a signature and by nobody after it.
 */
const names = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-auth-token',
  'x-gitlab-token',
  'x-goog-channel-token',
  'x-hook-secret',
  'x-telegram-bot-api-secret-token',
])

/** By its name in lower case. */
export function isCredentialHeader(name: string): boolean {
  return names.has(name)
}
