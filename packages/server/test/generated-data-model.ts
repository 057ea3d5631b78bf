/** Writes docs/data-model.md from the declarations. */
import type { Allowance, DataModel, EntityModel } from '@strongroom/kit/data-model'
import type { KeyAttribute, Table, TableIndex } from '@strongroom/kit/table'
import type { z } from 'zod'

export function dataModelPage(models: readonly DataModel[]): string {
  return `# Data model

What is stored, table by table: made from the declarations by \`npm run docs\`. Key templates name the attributes they are made of in braces. Every read also checks expiry itself: TTL deletes late.

${models.map(serviceSection).join('\n')}`
}

function serviceSection({ service, entities, functions }: DataModel): string {
  const tables = [...new Set(entities.map(({ table }) => table))]
  const sections = tables.map((table) =>
    tableSection(
      table,
      entities.filter((entity) => entity.table === table),
    ),
  )
  return `## ${service}

${sections.join('\n')}
### Functions of ${service}

${rows(
  ['Function', 'What it does', 'May'],
  functions.map(({ name, summary, allows }) => [
    name,
    summary,
    allows.map(allowanceText).join('; '),
  ]),
)}
`
}

function allowanceText({ table, actions, indexes = [], leadingKeys }: Allowance): string {
  const may = [...actions, ...indexes.map((index) => `Query of ${index}`)].join(', ')
  const where =
    leadingKeys === undefined
      ? ''
      : ` (partitions ${leadingKeys.map((key) => `\`${key}\``).join(', ')})`
  return `\`${table.name}\`: ${may}${where}`
}

function tableSection(table: Table, entities: readonly EntityModel[]): string {
  return `### \`${table.name}\`

${table.description}. Billing on demand; point-in-time recovery ${table.pointInTimeRecovery ? 'on' : 'off'}; time to live ${table.ttl ? `by \`${table.ttl}\`` : 'none'}.

${rows(
  ['Index', 'Partition key', 'Sort key', 'Holds'],
  [
    ['(table)', keyText(table.partitionKey), keyText(table.sortKey), 'items'],
    ...Object.entries(table.indexes ?? {}).map(([name, index]) => [
      name,
      keyText(index.partitionKey),
      keyText(index.sortKey),
      projectionText(index),
    ]),
  ],
)}
${entities.map(entitySection).join('\n')}`
}

function entitySection({ name, keys, schema, lifetime }: EntityModel): string {
  const templates = Object.entries(keys).map(([key, template]) => `\`${key}\` = \`${template}\``)
  return `#### ${name}

${templates.join(', ')}${lifetime === undefined ? '' : `. Lives ${lifetime}`}.

${rows(
  ['Attribute', 'Type', 'Required'],
  Object.entries(schema.shape as Record<string, z.ZodType>).map(([attribute, type]) => [
    `\`${attribute}\``,
    typeText(type),
    type.isOptional() ? 'no' : 'yes',
  ]),
)}${schema.def.catchall ? '\nFurther attributes may be there, as its schema says.\n' : ''}`
}

/** DynamoDB's letter for what a schema stores. */
function typeText({ def }: z.ZodType): string {
  switch (def.type) {
    case 'optional':
    case 'readonly':
    case 'nonoptional':
      return typeText((def as z.core.$ZodOptionalDef<z.ZodType>).innerType)
    case 'string':
    case 'enum':
    case 'template_literal':
      return 'S'
    case 'number':
    case 'int':
      return 'N'
    case 'boolean':
      return 'BOOL'
    case 'literal':
      return literalType((def as z.core.$ZodLiteralDef<z.core.util.Literal>).values[0])
    case 'array':
      return 'L'
    case 'object':
    case 'record':
      return 'M'
    case 'set':
      return 'SS'
    case 'custom':
      return 'B'
    case 'union':
      return [...new Set((def as z.core.$ZodUnionDef<z.ZodType[]>).options.map(typeText))].join(
        ' or ',
      )
    default:
      throw new Error(`No DynamoDB type is known for a schema of type ${def.type}`)
  }
}

function literalType(value: z.core.util.Literal | undefined): string {
  switch (typeof value) {
    case 'string':
      return 'S'
    case 'number':
      return 'N'
    case 'boolean':
      return 'BOOL'
    default:
      throw new Error(`No DynamoDB type is known for the literal ${String(value)}`)
  }
}

function keyText(key: KeyAttribute | undefined): string {
  return key === undefined ? '' : `\`${key.name}\` (${key.type})`
}

function projectionText({ projection }: TableIndex): string {
  if (projection === 'ALL') return 'whole items'
  return projection === 'KEYS_ONLY' ? 'keys only' : `keys and ${projection.include.join(', ')}`
}

function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + body.map(line).join('')
}
