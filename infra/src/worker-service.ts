/**
 * The delivery worker as a Fargate service, for steady load: it polls every few seconds, so retries are
 * as precise as on a server. Its network has no NAT gateway, which would cost more than the worker.
 */
import { Fn, type Stack, Tags } from 'aws-cdk-lib'
import {
  CfnInternetGateway,
  CfnRoute,
  CfnRouteTable,
  CfnSecurityGroup,
  CfnSubnet,
  CfnSubnetRouteTableAssociation,
  CfnVPC,
  CfnVPCEndpoint,
  CfnVPCGatewayAttachment,
} from 'aws-cdk-lib/aws-ec2'
import { CfnCluster, CfnService, CfnTaskDefinition } from 'aws-cdk-lib/aws-ecs'
import { CfnRole } from 'aws-cdk-lib/aws-iam'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { serverStatements } from '@strongroom/server/server-policy'
import type { Alarms } from './alarms.ts'
import type { Keys } from './keys.ts'
import type { StackOptions } from './options.ts'
import { tableKeyStatement } from './roles.ts'
import type { DeployedTables } from './tables.ts'

/** The Lambda functions that the worker replaces. */
export const REPLACED_FUNCTIONS: ReadonlySet<string> = new Set(['ferryhook-worker', 'jobs'])

export interface WorkerParts {
  image: string
  tables: DeployedTables
  keys: Keys
  options: StackOptions
  alarms: Alarms
}

export function createWorkerService(stack: Stack, parts: WorkerParts): void {
  const { options, alarms } = parts
  const name = `${options.prefix}strongroom-worker`
  const network = createNetwork(stack, name)
  const cluster = new CfnCluster(stack, 'WorkerCluster', { clusterName: name })
  const service = new CfnService(stack, 'WorkerService', {
    cluster: cluster.ref,
    launchType: 'FARGATE',
    desiredCount: 1,
    // The new worker starts before the old one stops: they share the work.
    deploymentConfiguration: {
      minimumHealthyPercent: 100,
      maximumPercent: 200,
      deploymentCircuitBreaker: { enable: true, rollback: true },
    },
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: network.subnets,
        securityGroups: [network.securityGroup],
        assignPublicIp: 'ENABLED',
      },
    },
    taskDefinition: createTask(stack, name, parts).ref,
  })
  service.node.addDependency(...network.routes)
  alarms.alarm('WorkerMissing', 'The worker does not run. Its log group says why.', {
    namespace: 'AWS/ECS',
    metricName: 'CPUUtilization',
    dimensions: [
      { name: 'ClusterName', value: cluster.ref },
      { name: 'ServiceName', value: service.attrName },
    ],
    statistic: 'SampleCount',
    comparisonOperator: 'LessThanThreshold',
    evaluationPeriods: 2,
    treatMissingData: 'breaching',
  })
}

function createTask(stack: Stack, name: string, parts: WorkerParts): CfnTaskDefinition {
  const { image, tables, keys, options } = parts
  const logGroup = new CfnLogGroup(stack, 'WorkerLogs', {
    logGroupName: `/strongroom/${name}`,
    retentionInDays: options.logRetentionDays,
  })
  const worker = [
    ...serverStatements({
      tables: tables.all,
      arnOf: tables.arnOf,
      keyArn: keys.own.attrArn,
    }),
    tableKeyStatement(keys.tables.attrArn),
  ]
  const logs = {
    Effect: 'Allow',
    Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    Resource: [logGroup.attrArn],
  }
  return new CfnTaskDefinition(stack, 'WorkerTask', {
    family: name,
    requiresCompatibilities: ['FARGATE'],
    networkMode: 'awsvpc',
    cpu: '256',
    memory: '512',
    runtimePlatform: { cpuArchitecture: 'ARM64', operatingSystemFamily: 'LINUX' },
    taskRoleArn: createTaskRole(stack, 'WorkerRole', worker).attrArn,
    executionRoleArn: createTaskRole(stack, 'WorkerStartRole', [logs, ...imageStatements(image)])
      .attrArn,
    containerDefinitions: [
      {
        name: 'worker',
        image,
        command: ['worker'],
        essential: true,
        readonlyRootFilesystem: true,
        stopTimeout: 60,
        environment: Object.entries({
          ...options.settings,
          AWS_REGION: stack.region,
          KMS_KEY_ARN: keys.own.attrArn,
          PUBLIC_URL: `https://${options.domain}`,
          ...(options.sealedDomain !== undefined && {
            SEALED_ORIGIN: `https://${options.sealedDomain}`,
          }),
          STRONGROOM_STORE: 'aws',
          STRONGROOM_TABLE_PREFIX: options.prefix,
        }).map(([key, value]) => ({ name: key, value })),
        logConfiguration: {
          logDriver: 'awslogs',
          options: {
            'awslogs-group': logGroup.ref,
            'awslogs-region': stack.region,
            'awslogs-stream-prefix': 'worker',
          },
        },
      },
    ],
  })
}

/** A private repository of this account needs permission to pull; the token has no resource in IAM. */
function imageStatements(image: string): object[] {
  const [, region, repository] = /\.dkr\.ecr\.([\w-]+)\.[\w.]+\/([\w./-]+)[:@]/.exec(image) ?? []
  if (region === undefined || repository === undefined) return []
  return [
    { Effect: 'Allow', Action: ['ecr:GetAuthorizationToken'], Resource: ['*'] },
    {
      Effect: 'Allow',
      Action: ['ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      Resource: [
        Fn.sub(`arn:\${AWS::Partition}:ecr:${region}:\${AWS::AccountId}:repository/${repository}`),
      ],
    },
  ]
}

function createTaskRole(stack: Stack, id: string, statements: object[]): CfnRole {
  return new CfnRole(stack, id, {
    assumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: 'ecs-tasks.amazonaws.com' },
          Action: 'sts:AssumeRole',
        },
      ],
    },
    policies: [
      {
        policyName: 'task',
        policyDocument: { Version: '2012-10-17', Statement: statements },
      },
    ],
  })
}

/** Two public subnets; the worker accepts no connections, and reaches DynamoDB through an endpoint. */
function createNetwork(stack: Stack, name: string) {
  const vpc = new CfnVPC(stack, 'WorkerVpc', {
    cidrBlock: '10.0.0.0/24',
    enableDnsHostnames: true,
    enableDnsSupport: true,
  })
  Tags.of(vpc).add('Name', name)
  const gateway = new CfnInternetGateway(stack, 'WorkerInternetGateway')
  const attachment = new CfnVPCGatewayAttachment(stack, 'WorkerInternetGatewayAttachment', {
    vpcId: vpc.ref,
    internetGatewayId: gateway.ref,
  })
  const routeTable = new CfnRouteTable(stack, 'WorkerRoutes', { vpcId: vpc.ref })
  const route = new CfnRoute(stack, 'WorkerRoute', {
    routeTableId: routeTable.ref,
    destinationCidrBlock: '0.0.0.0/0',
    gatewayId: gateway.ref,
  })
  route.addResourceDependency(attachment)
  const subnets = [0, 1].map((at) => {
    const subnet = new CfnSubnet(stack, `WorkerSubnet${at + 1}`, {
      vpcId: vpc.ref,
      availabilityZone: Fn.select(at, Fn.getAzs()),
      cidrBlock: `10.0.0.${at * 128}/25`,
    })
    new CfnSubnetRouteTableAssociation(stack, `WorkerSubnet${at + 1}Routes`, {
      subnetId: subnet.ref,
      routeTableId: routeTable.ref,
    })
    return subnet.ref
  })
  new CfnVPCEndpoint(stack, 'WorkerDynamoDb', {
    vpcId: vpc.ref,
    vpcEndpointType: 'Gateway',
    serviceName: Fn.sub('com.amazonaws.${AWS::Region}.dynamodb'),
    routeTableIds: [routeTable.ref],
  })
  const securityGroup = new CfnSecurityGroup(stack, 'WorkerSecurityGroup', {
    groupDescription: 'Strongroom worker: no connections from outside',
    vpcId: vpc.ref,
    securityGroupEgress: [{ ipProtocol: '-1', cidrIp: '0.0.0.0/0' }],
  })
  return { subnets, securityGroup: securityGroup.ref, routes: [route] }
}
