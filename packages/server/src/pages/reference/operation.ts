/** One operation of the document as the reference page shows it. */
import { type CurlRequest, curlCommand } from './curl.ts'
import { exampleOf } from './example.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf, type References } from './document.ts'
import { describeResponses, type Content, contentOf, type Responses } from './responses.ts'
import type { PropertyView, SchemaReader } from './schema.ts'
import { describeSecurity, type Security } from './security.ts'

export interface Operation extends Responses {
  anchor: string
  method: string
  path: string
  summary: string | undefined
  description: string | undefined
  deprecated: boolean
  isWebhook: boolean
  /** Who may call it; undefined if the document does not specify it. */
  security: string | undefined
  /** The permission that the bearer needs. */
  permission: string | undefined
  parameters: readonly ParameterGroup[]
  body:
    | { required: boolean; description: string | undefined; content: readonly Content[] }
    | undefined
  /** Undefined for errors of the server itself. */
  curl: string | undefined
}

export interface ParameterGroup {
  title: string
  parameters: readonly PropertyView[]
}

export interface OperationSource {
  source: JsonObject
  /** The path item, which may have parameters for all its methods. */
  item: JsonObject
  method: string
  path: string
  anchor: string
  server: string | undefined
  isWebhook: boolean
  security: unknown
  components: JsonObject
  references: References
  schemas: SchemaReader
}

const PLACES = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Headers'],
  ['cookie', 'Cookies'],
] as const

export function describeOperation(from: OperationSource): Operation {
  const { source, item, method, path, anchor, references, schemas, isWebhook } = from
  const parameters = parametersOf(from)
  const security = describeSecurity(from.security, from.components, references)
  const body = objectOf(references.resolve(source['requestBody']).target)
  const content = contentOf(body['content'], schemas, references, 'request')
  const request: CurlRequest = {
    method,
    server: from.server,
    path,
    parameters: parameters
      .filter(({ view }) => view.required)
      .map(({ view, place, example }) => ({ name: view.name, place, example })),
    security: security.schemes,
    body:
      content[0] === undefined ? undefined : { ...content[0], example: content[0].example.value },
  }
  return {
    anchor,
    method,
    path,
    isWebhook,
    summary: textOf(source['summary']) ?? textOf(item['summary']),
    description: textOf(source['description']) ?? textOf(item['description']),
    deprecated: source['deprecated'] === true,
    security: security.text,
    permission: permissionOf(source, security),
    parameters: PLACES.map(([place, title]) => ({
      title,
      parameters: parameters.filter((each) => each.place === place).map(({ view }) => view),
    })).filter((group) => group.parameters.length > 0),
    body:
      content.length === 0
        ? undefined
        : {
            required: body['required'] === true,
            description: textOf(body['description']),
            content,
          },
    ...describeResponses(source['responses'], schemas, references),
    curl: isWebhook ? undefined : curlCommand(request),
  }
}

/** Undefined if the kind of token implies it. */
function permissionOf(source: JsonObject, { text, schemes }: Security): string | undefined {
  const permission = textOf(source['x-permission'])
  const isNew = permission !== undefined && !text?.toLowerCase().includes(permission)
  return isNew && schemes.length > 0 ? permission : undefined
}

interface Parameter {
  place: string
  view: PropertyView
  example: unknown
}

function parametersOf({ source, item, references, schemas }: OperationSource): Parameter[] {
  const found = new Map<string, Parameter>()
  // Parameters of the operation come last, because they override those of its path.
  for (const given of [...listOf(item['parameters']), ...listOf(source['parameters'])]) {
    const parameter = references.resolve(given).target
    if (!isObject(parameter)) continue
    const name = textOf(parameter['name'])
    const place = textOf(parameter['in'])
    if (name === undefined || place === undefined) continue
    const schema =
      parameter['schema'] ?? objectOf(Object.values(objectOf(parameter['content']))[0])['schema']
    const view = schemas.unfold(schema)
    found.set(`${place} ${name}`, {
      place,
      view: {
        name,
        isPattern: false,
        required: parameter['required'] === true || place === 'path',
        schema: {
          ...view,
          description: textOf(parameter['description']) ?? view.description,
          deprecated: parameter['deprecated'] === true || view.deprecated,
        },
      },
      example: parameter['example'] ?? givenExample(schema, references),
    })
  }
  return [...found.values()]
}

/** Only examples of the document: the name of a parameter says more than `string`. */
function givenExample(schema: unknown, references: References): unknown {
  const value = exampleOf(schema, references, { direction: 'request' })
  return value === 'string' || value === 0 ? undefined : value
}
