/** A curl command that is safe to paste: all text of the document is quoted. */
import { isObject } from './document.ts'
import type { Scheme } from './security.ts'

export interface CurlRequest {
  method: string
  /** The URL of the server; undefined if the document has none. */
  server: string | undefined
  path: string
  /** The required parameters, with their examples. */
  parameters: readonly { name: string; place: string; example: unknown }[]
  security: readonly Scheme[]
  body: { type: string; example: unknown } | undefined
}

export function curlCommand(request: CurlRequest): string {
  const { method, server, security, body } = request
  const address = `${pathOf(request)}${queryOf(request)}`
  const target =
    server === undefined
      ? `"$BASE_URL"${quoted(address)}`
      : quoted(`${server.replace(/\/+$/, '')}${address}`)
  const options = [
    ...methodOption(method, body !== undefined),
    // Without --globoff, curl interprets brackets in a URL.
    ...(/[[\]{}]/.test(target) ? ['--globoff'] : []),
    ...security.flatMap(credentials),
    ...parametersIn(request, 'header').map(
      ({ name, example }) => `-H ${quoted(`${name}: ${placeholder(name, example)}`)}`,
    ),
    ...parametersIn(request, 'cookie').map(
      ({ name, example }) => `-b ${quoted(`${name}=${placeholder(name, example)}`)}`,
    ),
    ...(body === undefined ? [] : bodyOptions(body)),
  ]
  return [`curl ${target}`, ...options].join(' \\\n  ')
}

function methodOption(method: string, hasBody: boolean): string[] {
  if (method === 'GET' && !hasBody) return []
  if (method === 'HEAD') return ['--head']
  return method === 'POST' && hasBody ? [] : [`-X ${method}`]
}

function pathOf(request: CurlRequest): string {
  const inPath = parametersIn(request, 'path')
  return request.path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const example = inPath.find((parameter) => parameter.name === name)?.example
    return encodeURIComponent(placeholder(name, example))
  })
}

function queryOf(request: CurlRequest): string {
  const named = parametersIn(request, 'query').map(
    ({ name, example }) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(placeholder(name, example))}`,
  )
  const keys = request.security
    .filter(({ kind }) => kind === 'query')
    .map(({ name }) => `${encodeURIComponent(name)}=API_KEY`)
  const all = [...named, ...keys]
  return all.length === 0 ? '' : `?${all.join('&')}`
}

function parametersIn({ parameters }: CurlRequest, place: string) {
  return parameters.filter((parameter) => parameter.place === place)
}

/** The example, or the name in capitals as a placeholder. */
function placeholder(name: string, example: unknown): string {
  if (typeof example === 'string' && example !== '') return example
  if (typeof example === 'number' || typeof example === 'boolean') return String(example)
  return capitals(name)
}

function capitals(name: string): string {
  const made = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
  return made || 'VALUE'
}

function credentials({ kind, name }: Scheme): string[] {
  switch (kind) {
    case 'bearer':
      return ['-H "authorization: Bearer $TOKEN"']
    case 'basic':
      return ['-u "$USER_NAME:$PASSWORD"']
    case 'header':
      return [`-H ${quoted(`${name}: `)}"$${capitals(name)}"`]
    case 'cookie':
      return [`-b ${quoted(`${name}=`)}"$${capitals(name)}"`]
    default:
      return []
  }
}

function bodyOptions({ type, example }: { type: string; example: unknown }): string[] {
  if (/[/+]json\b/.test(type)) {
    const json = JSON.stringify(example, null, 2) ?? 'null'
    return [`-H ${quoted(`content-type: ${type}`)}`, `-d ${quoted(json)}`]
  }
  const fields = isObject(example) ? Object.entries(example) : []
  const option = FORM_OPTIONS[type]
  if (option !== undefined)
    return fields.map(
      ([name, value]) => `${option} ${quoted(`${name}=${placeholder(name, value)}`)}`,
    )
  // A media type range cannot be sent.
  const sent = type.includes('*') ? 'application/octet-stream' : type
  return [`-H ${quoted(`content-type: ${sent}`)}`, '--data-binary @FILE']
}

const FORM_OPTIONS: Readonly<Record<string, string>> = {
  'application/x-www-form-urlencoded': '--data-urlencode',
  'multipart/form-data': '-F',
}

/** Inside single quotes a shell interprets nothing but the single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
