import { Inline, Prose } from './prose.tsx'
import type { PropertyView, SchemaView } from './schema.ts'

/** Longer lists, such as of countries, are truncated. */
const MAX_VALUES = 40

/** The root of a tree: the body of a request or a response, or a named schema. */
export function SchemaTree({ schema, isNamed = false }: { schema: SchemaView; isNamed?: boolean }) {
  return (
    <div class="schema">
      <p class="schema-type">
        <TypeLabel schema={schema} />
      </p>
      {isNamed ? <Prose text={schema.description} /> : null}
      <Constraints schema={schema} />
      <Children schema={schema} of={undefined} depth={0} />
    </div>
  )
}

export function PropertyList({
  properties,
  depth = 0,
}: {
  properties: readonly PropertyView[]
  depth?: number
}) {
  return (
    <ul class="props">
      {properties.map(({ name, isPattern, required, schema }) => (
        <li>
          <p class="prop-line">
            {isPattern ? <em class="prop-name">{name}</em> : <code class="prop-name">{name}</code>}
            <TypeLabel schema={schema} />
            {required ? <span class="required">required</span> : null}
            {schema.deprecated ? <span class="deprecated">deprecated</span> : null}
          </p>
          <Prose text={schema.description} />
          <Constraints schema={schema} />
          <Children schema={schema} of={name} depth={depth + 1} />
        </li>
      ))}
    </ul>
  )
}

function TypeLabel({ schema: { label, link } }: { schema: SchemaView }) {
  return (
    <span class="type">
      {label}
      {link === undefined ? null : (
        <>
          {label === '' ? '' : ' '}
          <a href={`#${link.anchor}`}>{link.name}</a>
        </>
      )}
    </span>
  )
}

function Constraints({ schema: { facts, values } }: { schema: SchemaView }) {
  if (facts.length === 0 && values.length === 0) return null
  const shown = values.slice(0, MAX_VALUES)
  return (
    <ul class="constraints">
      {values.length === 0 ? null : (
        <li class="values">
          {values.length === 1 ? 'always ' : 'one of '}
          {shown.map((value) => (
            <>
              <code>{value}</code>{' '}
            </>
          ))}
          {values.length > shown.length ? `and ${values.length - shown.length} more` : null}
        </li>
      )}
      {facts.map(({ text, code }) => (
        <li>
          {text}
          {code === undefined ? null : (
            <>
              {' '}
              <code>{code}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The fields of a value. The first levels are expanded, deeper ones on demand. */
function Children({
  schema,
  of,
  depth,
}: {
  schema: SchemaView
  of: string | undefined
  depth: number
}) {
  const { properties, forms, formsTitle } = schema
  if (properties.length === 0 && forms.length === 0) return null
  const inner = (
    <>
      {properties.length === 0 ? null : <PropertyList properties={properties} depth={depth} />}
      {forms.length === 0 ? null : (
        <>
          <p class="forms-title">{formsTitle}</p>
          <ol class="forms">
            {forms.map((form) => (
              <li>
                <SchemaForm form={form} depth={depth} />
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  )
  if (of === undefined) return inner
  return (
    <details class="nested" open={depth < 2}>
      <summary>
        Inside <code>{of}</code>
      </summary>
      {inner}
    </details>
  )
}

function SchemaForm({ form, depth }: { form: SchemaView; depth: number }) {
  return (
    <>
      <p class="prop-line">
        <TypeLabel schema={form} />
      </p>
      {form.description === undefined ? null : (
        <p class="form-text">
          <Inline text={form.description} />
        </p>
      )}
      <Constraints schema={form} />
      <Children schema={form} of={undefined} depth={depth + 1} />
    </>
  )
}
