/** The part of the OpenAPI document that is about one service. */
import { isObject, type JsonObject, listOf, objectOf, textOf } from './document.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']

/** Operations with this tag, and the schemas and credentials that they need. */
export function documentOfService(document: object, title: string): JsonObject {
  const root = objectOf(document)
  const paths = Object.fromEntries(
    Object.entries(objectOf(root['paths'])).flatMap(([path, item]) => {
      const kept = Object.entries(objectOf(item)).filter(
        ([name, value]) => !METHODS.includes(name) || hasTag(value, title),
      )
      return kept.some(([name]) => METHODS.includes(name)) ? [[path, Object.fromEntries(kept)]] : []
    }),
  )
  const components = objectOf(root['components'])
  const named = objectOf(components['schemas'])
  const schemes = objectOf(components['securitySchemes'])
  const needed = new Set<string>()
  const visit = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(
      /"#\/components\/schemas\/([^"/]+)"/g,
    )) {
      if (needed.has(name) || !Object.hasOwn(named, name)) continue
      needed.add(name)
      visit(named[name])
    }
  }
  visit(paths)
  const used = new Set(
    Object.values(paths).flatMap((item) => Object.values(objectOf(item)).flatMap(schemesOf)),
  )
  const pick = (from: JsonObject, names: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.has(name)))
  return {
    ...root,
    tags: listOf(root['tags']).filter((tag) => objectOf(tag)['name'] === title),
    paths,
    components: {
      ...components,
      schemas: pick(named, needed),
      securitySchemes: pick(schemes, used),
    },
  }
}

function hasTag(operation: unknown, title: string): boolean {
  return isObject(operation) && textOf(listOf(operation['tags'])[0]) === title
}

function schemesOf(operation: unknown): string[] {
  return listOf(objectOf(operation)['security']).flatMap((way) => Object.keys(objectOf(way)))
}
