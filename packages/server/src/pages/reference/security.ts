/** Who may call an operation, from the document's security requirements. */
import { listOf, objectOf, textOf, type References } from './document.ts'

export interface Scheme {
  kind: 'bearer' | 'basic' | 'header' | 'query' | 'cookie' | 'other'
  /** The name of the header, parameter or cookie. */
  name: string
  title: string
  /** Where to get it. */
  description: string | undefined
}

export interface Security {
  /** For people: `Bearer token (operator)`; undefined if the document does not specify it. */
  text: string | undefined
  /** The credentials of the simplest alternative. */
  schemes: readonly Scheme[]
}

/** All security schemes of the document. */
export function describeSchemes(components: unknown, references: References): Scheme[] {
  return Object.entries(objectOf(objectOf(components)['securitySchemes'])).map(([name, found]) =>
    describeScheme(name, references.resolve(found).target),
  )
}

export function describeSecurity(
  requirements: unknown,
  components: unknown,
  references: References,
): Security {
  const known = objectOf(objectOf(components)['securitySchemes'])
  const ways = listOf(requirements).map((way) =>
    Object.keys(objectOf(way)).map((name) =>
      describeScheme(
        name,
        Object.hasOwn(known, name) ? references.resolve(known[name]).target : {},
      ),
    ),
  )
  const locked = ways.filter((schemes) => schemes.length > 0)
  const texts = ways.map((schemes) => schemes.map(({ title }) => title).join(' and ') || 'none')
  return {
    text: Array.isArray(requirements) ? texts.join(', or ') || 'none' : undefined,
    // A token can be pasted; other schemes, such as signatures, must be computed.
    schemes: locked.find((way) => way.every(({ kind }) => kind === 'bearer')) ?? locked[0] ?? [],
  }
}

function describeScheme(key: string, found: unknown): Scheme {
  const scheme = objectOf(found)
  const name = textOf(scheme['name']) ?? key
  const type = textOf(scheme['type'])
  const http = textOf(scheme['scheme'])?.toLowerCase()
  const description = textOf(scheme['description'])
  if ((type === 'http' && http === 'bearer') || type === 'oauth2' || type === 'openIdConnect')
    return { kind: 'bearer', name: 'authorization', title: `Bearer token (${key})`, description }
  if (type === 'http' && http === 'basic')
    return {
      kind: 'basic',
      name: 'authorization',
      title: `User and password (${key})`,
      description,
    }
  const place = textOf(scheme['in'])
  if (type === 'apiKey' && (place === 'header' || place === 'query' || place === 'cookie'))
    return { kind: place, name, title: `Key in the ${place} ${name}`, description }
  return { kind: 'other', name, title: key, description }
}
