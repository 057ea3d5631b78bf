/** An OpenAPI 3.1 document as the reference page shows it: groups of operations, and schemas. */
import {
  createAnchors,
  groupAnchor,
  operationAnchor,
  schemaAnchor,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  createReferences,
} from './document.ts'
import { describeOperation, type Operation } from './operation.ts'
import { describeSchemes, type Scheme } from './security.ts'
import { createSchemaReader, type SchemaView } from './schema.ts'

export interface Api {
  title: string
  version: string
  description: string | undefined
  server: string | undefined
  /** The credentials that callers may need. */
  schemes: readonly Scheme[]
  groups: readonly Group[]
  schemas: readonly NamedSchema[]
}

export interface Group {
  name: string
  anchor: string
  description: string | undefined
  operations: readonly Operation[]
}

export interface NamedSchema {
  name: string
  anchor: string
  schema: SchemaView
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const
const WEBHOOKS = 'Webhooks'

export function describeApi(document: unknown): Api {
  const root = objectOf(document)
  const info = objectOf(root['info'])
  const references = createReferences(root)
  const anchor = createAnchors()
  const server = serverAddress(root)

  // Assigned first, because schemas link to each other.
  const components = objectOf(root['components'])
  const named = objectOf(components['schemas'])
  const anchors = new Map(Object.keys(named).map((name) => [name, anchor(schemaAnchor(name))]))
  const schemas = createSchemaReader(references, (name) => anchors.get(name))

  const tags = listOf(root['tags']).filter(isObject)
  const groups = new Map<string, Operation[]>(
    tags.flatMap((tag) => (typeof tag['name'] === 'string' ? [[tag['name'], []]] : [])),
  )
  const collect = (paths: unknown, kind: 'path' | 'webhook') => {
    for (const [path, found] of Object.entries(objectOf(paths))) {
      const { target, siblings } = references.resolve(found)
      const item: JsonObject = { ...objectOf(target), ...siblings }
      for (const method of METHODS) {
        const source = item[method]
        if (!isObject(source)) continue
        const operation = describeOperation({
          source,
          item,
          path,
          references,
          schemas,
          components,
          method: method.toUpperCase(),
          anchor: anchor(operationAnchor(method, path)),
          server: kind === 'webhook' ? undefined : (serverAddress(source) ?? server),
          isWebhook: kind === 'webhook',
          security: source['security'] ?? root['security'],
        })
        const group = kind === 'webhook' ? WEBHOOKS : groupOf(source, path)
        groups.set(group, [...(groups.get(group) ?? []), operation])
      }
    }
  }
  collect(root['paths'], 'path')
  collect(root['webhooks'], 'webhook')

  return {
    title: textOf(info['title']) ?? 'API',
    version: textOf(info['version']) ?? '',
    description: textOf(info['description']),
    server,
    schemes: describeSchemes(components, references),
    groups: [...groups]
      .filter(([, operations]) => operations.length > 0)
      .map(([name, operations]) => ({
        name,
        anchor: anchor(groupAnchor(name)),
        description: textOf(tags.find((tag) => tag['name'] === name)?.['description']),
        operations,
      })),
    schemas: [...anchors].map(([name, place]) => ({
      name,
      anchor: place,
      schema: schemas.outline(named[name]),
    })),
  }
}

/** The first tag; without tags the first part of the path, which is the mount point of a service. */
function groupOf(operation: JsonObject, path: string): string {
  const tag = textOf(listOf(operation['tags'])[0])
  if (tag !== undefined) return tag
  const segments = path.split('/').filter((part) => part !== '' && !part.startsWith('{'))
  return segments.length > 1 ? (segments[0] ?? 'server') : 'server'
}

/** Absolute URLs only, because curl cannot use a relative one. */
function serverAddress(source: JsonObject): string | undefined {
  const server = objectOf(listOf(source['servers'])[0])
  const variables = objectOf(server['variables'])
  const address = textOf(server['url'])?.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? objectOf(variables[name]) : {}
    return textOf(variable['default']) ?? whole
  })
  return address !== undefined && /^https?:\/\//i.test(address) ? address : undefined
}
