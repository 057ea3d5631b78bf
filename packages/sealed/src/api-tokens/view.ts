/** An API token as responses and commands show it: null for what is missing. Times are epoch seconds. */
import type { ApiToken } from './service.ts'

export type ApiTokenView = ReturnType<typeof toApiTokenView>

export function toApiTokenView(token: ApiToken) {
  const { name, perHour, createdAt, expiresAt = null, lastUsedAt = null } = token
  return { name, perHour, createdAt, expiresAt, lastUsedAt }
}
