/** Replaces the references of a template by the names and ARNs that a deployment would have. */
import type { Resource, Template } from './synthesize.ts'

export const ACCOUNT = '111122223333'
const REGION = 'eu-central-1'

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::Region': REGION,
}

export function resolver(template: Template): (value: unknown) => unknown {
  const resourceOf = (id: string): Resource => {
    const found = template.Resources[id]
    if (!found) throw new Error(`The template has no resource ${id}`)
    return found
  }
  const ref = (id: string) => PSEUDO[id] ?? id

  const attribute = (id: string, name: string): string => {
    const { Type, Properties } = resourceOf(id)
    const arn = (service: string, path: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${path}`
    switch (`${Type}.${name}`) {
      case 'AWS::DynamoDB::Table.Arn':
        return arn('dynamodb', `table/${Properties.TableName}`)
      case 'AWS::DynamoDB::Table.StreamArn':
        return arn('dynamodb', `table/${Properties.TableName}/stream/2026-01-01T00:00:00.000`)
      case 'AWS::KMS::Key.Arn':
        return arn('kms', `key/${id}`)
      case 'AWS::Logs::LogGroup.Arn':
        return arn('logs', `log-group:${Properties.LogGroupName}:*`)
      default:
        throw new Error(`No value for ${name} of ${Type}`)
    }
  }

  return function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const [[name, inner] = []] = Object.entries(value)
    switch (name) {
      case 'Ref':
        return ref(inner as string)
      case 'Fn::GetAtt':
        return attribute(...(inner as [string, string]))
      case 'Fn::Join': {
        const [separator, parts] = inner as [string, unknown[]]
        return parts.map(resolve).join(separator)
      }
      case 'Fn::Sub':
        return (inner as string).replaceAll(/\$\{([\w:]+)\}/g, (_, id: string) => ref(id))
      default:
        return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each)]))
    }
  }
}
