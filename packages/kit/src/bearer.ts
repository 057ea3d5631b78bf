const MAX_TOKEN_LENGTH = 4_096

/** The token of an `Authorization: Bearer …` header (RFC 6750, section 2.1); the scheme in any case. */
export function parseBearer(
  authorization: string | undefined,
  maxLength: number = MAX_TOKEN_LENGTH,
): string | undefined {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
  return token !== undefined && token.length <= maxLength ? token : undefined
}
