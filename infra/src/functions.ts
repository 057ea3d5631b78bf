/** The functions with their roles and log groups. */
import { join } from 'node:path'
import type { Stack } from 'aws-cdk-lib'
import { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import type { LambdaFunction } from '@strongroom/lambda/functions'
import { InvalidOption, type StackOptions } from './options.ts'
import { createRole, type RoleParts } from './roles.ts'

export interface DeployedFunction {
  declared: LambdaFunction
  /** The beginning of the logical ids of what belongs to it: `SealedRequests`. */
  id: string
  resource: CfnFunction
  logGroup: CfnLogGroup
}

export interface FunctionParts extends Omit<RoleParts, 'logGroupArn'> {
  /** The directory with `<name>.zip` of each function. */
  bundles: string
}

export function createFunctions(
  stack: Stack,
  declared: readonly LambdaFunction[],
  options: StackOptions,
  { bundles, ...parts }: FunctionParts,
): DeployedFunction[] {
  requireKnownSettings(declared, options)
  return declared.map((each) => {
    const id = pascalCase(each.name)
    const name = functionName(options, each)
    const logGroup = new CfnLogGroup(stack, `${id}Logs`, {
      logGroupName: `/aws/lambda/${name}`,
      retentionInDays: options.logRetentionDays,
    })
    const logGroupArn = logGroup.attrArn
    const role = createRole(stack, `${id}Role`, each, { ...parts, logGroupArn })
    const { s3BucketName: s3Bucket, s3ObjectKey: s3Key } = new Asset(stack, `${id}Code`, {
      path: join(bundles, `${each.name}.zip`),
    })
    const resource = new CfnFunction(stack, `${id}Function`, {
      functionName: name,
      description: each.summary,
      runtime: 'nodejs22.x',
      architectures: ['arm64'],
      handler: 'index.handler',
      code: { s3Bucket, s3Key },
      role: role.attrArn,
      memorySize: each.memoryMb,
      timeout: each.timeoutSeconds,
      environment: { variables: environmentOf(each, options, parts) },
      loggingConfig: { logGroup: logGroup.ref, logFormat: 'Text' },
    })
    return { declared: each, id, resource, logGroup }
  })
}

/** A name that is known before the function exists, so that its log group can have it too. */
function functionName({ prefix }: StackOptions, { name }: LambdaFunction): string {
  return `${prefix}strongroom-${name}`
}

function environmentOf(
  { environment }: LambdaFunction,
  { prefix, domain, sealedDomain, settings }: StackOptions,
  { keys }: Pick<FunctionParts, 'keys'>,
): Record<string, string> {
  const values: Record<string, string> = {
    ...settings,
    KMS_KEY_ARN: keys.own.attrArn,
    PUBLIC_URL: `https://${domain}`,
    ...(prefix !== '' && { STRONGROOM_TABLE_PREFIX: prefix }),
    ...(sealedDomain !== undefined && { SEALED_ORIGIN: `https://${sealedDomain}` }),
  }
  const own = Object.entries(values).filter(([name]) => environment.includes(name))
  return Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Set by the stack, from its other options. */
const OWN_SETTINGS = [
  'KMS_KEY_ARN',
  'PUBLIC_URL',
  'SEALED_ORIGIN',
  'STRONGROOM_TABLE_PREFIX',
  'DYNAMODB_ENDPOINT',
  'KMS_ENDPOINT',
]

function requireKnownSettings(
  functions: readonly LambdaFunction[],
  { settings }: StackOptions,
): void {
  const known = new Set(functions.flatMap(({ environment }) => environment))
  for (const name of Object.keys(settings)) {
    if (OWN_SETTINGS.includes(name))
      throw new InvalidOption(`The option settings is invalid: the stack sets ${name} itself`)
    if (!known.has(name))
      throw new InvalidOption(
        `The option settings is invalid: no function reads ${name}. docs/configuration.md lists the settings.`,
      )
  }
}

export function pascalCase(name: string): string {
  return name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
