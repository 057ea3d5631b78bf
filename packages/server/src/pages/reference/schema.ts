/**
 * Schemas as trees, with `$ref` resolved and `allOf` merged. A recursive schema is expanded once and
 * then only named, and so is everything after MAX_NODES, because a small document can expand without
 * end.
 */
import {
  inline,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  textsOf,
  type References,
} from './document.ts'
import {
  type Fact,
  schemaFacts,
  firstText,
  isNull,
  joinOr,
  typeLabel,
  valuesOf,
  withNull,
} from './schema-text.ts'

export interface SchemaView {
  /** `string or null`, `array of object`, `string (date-time)`. */
  label: string
  /** The name of the schema, if it has one. */
  link: { name: string; anchor: string } | undefined
  description: string | undefined
  deprecated: boolean
  facts: readonly Fact[]
  /** The only values that are allowed, as JSON. */
  values: readonly string[]
  /** Fields of the object, or of the objects in the array. */
  properties: readonly PropertyView[]
  /** Alternatives: `oneOf` and `anyOf`. */
  forms: readonly SchemaView[]
  formsTitle: string
}

export interface PropertyView {
  name: string
  /** The name is a placeholder for additional or pattern properties. */
  isPattern: boolean
  required: boolean
  schema: SchemaView
}

export interface SchemaReader {
  /** With all references expanded. */
  unfold(schema: unknown): SchemaView
  /** Named schemas inside it are links. */
  outline(schema: unknown): SchemaView
}

const MAX_NODES = 400
const MAX_DEPTH = 12

interface Walk {
  nodes: number
  unfolds: boolean
}

/** `anchorOf` returns the anchor of a named schema. */
export function createSchemaReader(
  references: References,
  anchorOf: (name: string) => string | undefined,
): SchemaReader {
  return {
    unfold: (schema) => describe(schema, [], { nodes: 0, unfolds: true }),
    outline: (schema) => describe(schema, [], { nodes: 0, unfolds: false }),
  }

  function describe(schema: unknown, above: readonly object[], walk: Walk): SchemaView {
    walk.nodes += 1
    if (schema === false) return leaf('nothing')
    if (!isObject(schema)) return leaf('anything')

    const { target, component, siblings } = references.resolve(schema)
    if (target === undefined) return leaf(`unknown schema ${inline(schema['$ref'])}`)
    const anchor = component === undefined ? undefined : anchorOf(component)
    const link =
      component === undefined || anchor === undefined ? undefined : { name: component, anchor }
    const isOver = above.length >= MAX_DEPTH || walk.nodes > MAX_NODES
    const isCircle = isObject(target) && above.includes(target)
    const staysFolded = link !== undefined && above.length > 0 && !walk.unfolds
    if (isCircle || isOver || staysFolded) {
      const own = objectOf(target)
      return {
        ...leaf(link === undefined ? typeLabel([own]) || 'more of the same' : typeLabel([own])),
        link,
        description: textOf(siblings?.['description']) ?? textOf(own['description']),
      }
    }

    const layers = layersOf(schema, above)
    // Includes the schema itself, to detect one that is among its own alternatives.
    const within = [...above, ...layers]
    const forms = formsOf(layers)
    if (forms.only !== undefined) {
      const only = describe(forms.only, within, walk)
      return {
        ...only,
        label: forms.nullable ? withNull(only.label) : only.label,
        link: only.link ?? link,
        description: firstText(layers, 'description') ?? only.description,
        deprecated: layers.some((layer) => layer['deprecated'] === true) || only.deprecated,
        facts: unique([...layers.flatMap(schemaFacts), ...only.facts]),
      }
    }

    const items = firstText(layers, 'items', (value) => value)
    const itemView = items === undefined ? undefined : describe(items, within, walk)
    const views = forms.all.map((form) => describe(form, within, walk))
    const named = views.length > 0 && views.every(isPlain)
    const label = typeLabel(layers, itemView?.label) || (named ? joinOr(views.map(labelOf)) : '')
    const shown = label || (views.length > 0 ? 'one of several forms' : 'anything')
    return {
      label: forms.nullable ? withNull(shown) : shown,
      link: link ?? itemView?.link,
      description: firstText(layers, 'description'),
      deprecated: layers.some((layer) => layer['deprecated'] === true),
      facts: unique([
        ...layers.flatMap(schemaFacts),
        ...(itemView?.facts ?? []).map((fact) => ({ ...fact, text: `each item: ${fact.text}` })),
      ]),
      values: [...valuesOf(layers), ...(itemView?.values ?? [])],
      properties: [
        ...propertiesOf(layers, within, walk),
        ...(itemView?.properties ?? []),
        ...prefixItems(layers, within, walk),
      ],
      forms: named && typeLabel(layers) === '' ? [] : [...views, ...(itemView?.forms ?? [])],
      formsTitle: views.length > 0 ? forms.title : (itemView?.formsTitle ?? forms.title),
    }
  }

  /** All schemas that apply to the same value: itself, its reference and those of allOf. */
  function layersOf(schema: unknown, above: readonly object[]): JsonObject[] {
    const layers: JsonObject[] = []
    const add = (value: unknown): void => {
      const { target, siblings } = references.resolve(value)
      if (siblings) layers.push(siblings)
      if (!isObject(target) || layers.includes(target) || above.includes(target)) return
      layers.push(target)
      for (const part of listOf(target['allOf'])) add(part)
    }
    add(schema)
    return layers
  }

  function propertiesOf(
    layers: readonly JsonObject[],
    above: readonly object[],
    walk: Walk,
  ): PropertyView[] {
    const required = new Set(layers.flatMap((layer) => textsOf(layer['required'])))
    const found = new Map<string, unknown>()
    for (const layer of layers)
      for (const [name, schema] of Object.entries(objectOf(layer['properties'])))
        if (!found.has(name)) found.set(name, schema)
    const own = [...found].map(([name, schema]) => ({
      name,
      isPattern: false,
      required: required.has(name),
      schema: describe(schema, above, walk),
    }))
    const patterns = layers.flatMap((layer) => Object.entries(objectOf(layer['patternProperties'])))
    const others = layers
      .map((layer) => layer['additionalProperties'])
      // Not shown if the schema allows any additional property by default.
      .filter((value) => (found.size > 0 ? isOpen(value) : isOpen(value) && !saysNothing(value)))
      .map((schema): [string, unknown] => [found.size > 0 ? 'any other name' : 'any name', schema])
    return [
      ...own,
      ...[...patterns, ...others].map(([name, schema]) => ({
        name,
        isPattern: true,
        required: false,
        schema: describe(schema, above, walk),
      })),
    ]
  }

  function prefixItems(
    layers: readonly JsonObject[],
    above: readonly object[],
    walk: Walk,
  ): PropertyView[] {
    return layers
      .flatMap((layer) => listOf(layer['prefixItems']))
      .map((schema, index) => ({
        name: `item ${index + 1}`,
        isPattern: true,
        required: false,
        schema: describe(schema, above, walk),
      }))
  }

  function formsOf(layers: readonly JsonObject[]): Forms {
    const key = layers.some((layer) => listOf(layer['oneOf']).length > 0) ? 'oneOf' : 'anyOf'
    const found = layers.flatMap((layer) => listOf(layer[key]))
    const all = found.filter((form) => !isNull(references.resolve(form).target))
    const nullable = all.length < found.length || layers.some((layer) => layer['nullable'] === true)
    // `oneOf: [X, null]` is how "X or null" is written when X is a reference.
    const hasOwnShape = layers.some((layer) => 'properties' in layer || 'type' in layer)
    const only = all.length === 1 && !hasOwnShape ? all[0] : undefined
    return { all, only, nullable, title: key === 'oneOf' ? 'One of' : 'Any of' }
  }
}

interface Forms {
  all: unknown[]
  only: unknown
  nullable: boolean
  title: string
}

function leaf(label: string): SchemaView {
  return {
    label,
    link: undefined,
    description: undefined,
    deprecated: false,
    facts: [],
    values: [],
    properties: [],
    forms: [],
    formsTitle: '',
  }
}

/** Whether the label says everything. */
function isPlain(view: SchemaView): boolean {
  return (
    view.link === undefined &&
    view.description === undefined &&
    view.facts.length + view.values.length + view.properties.length + view.forms.length === 0
  )
}

const labelOf = (view: SchemaView) => view.label

const isOpen = (value: unknown) => isObject(value) || value === true
const saysNothing = (value: unknown) => !isObject(value) || Object.keys(value).length === 0

function unique(facts: readonly Fact[]): Fact[] {
  const seen = new Map(facts.map((fact) => [`${fact.text} ${fact.code ?? ''}`, fact]))
  return [...seen.values()]
}
