/** Why a connection failed, in the one word that tells most. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
