import {
  type DynamicModule,
  Module,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common'
import { createGenerator, type IdGenerator } from 'graupel'
import { acquireLease, type LeaseOptions } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'

/** Injects the generator: `constructor(@Inject(IDS) private readonly ids: IdGenerator) {}`. */
export const IDS = Symbol('ids')

export interface IdsOptions extends Omit<LeaseOptions, 'store'> {
  /** The store of the leases, such as `redis://127.0.0.1:6379`. */
  url: string
}

interface AsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** Providers that `useFactory` takes, such as `ConfigService`. */
  inject?: Extract<Provider, { inject?: unknown }>['inject']
  useFactory: (...providers: never[]) => IdsOptions | Promise<IdsOptions>
}

/**
 * Provides the generator of a leased node to all modules. Without this provider, as in tests that replace it,
 * no store is opened.
 */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a dynamic module of NestJS is such a class
export class IdsModule {
  static forRoot(options: IdsOptions): DynamicModule {
    return IdsModule.forRootAsync({ useFactory: () => options })
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: AsyncOptions): DynamicModule {
    const ids: Provider = {
      provide: IDS,
      inject,
      useFactory: async (...providers: never[]) => leased(await useFactory(...providers)),
    }
    return { module: IdsModule, global: true, imports, providers: [ids], exports: [IDS] }
  }
}

const endProcess = () => process.kill(process.pid, 'SIGTERM')

/**
 * Nest calls the method of the provider after the requests that have begun; it calls `onModuleDestroy` before
 * them.
 */
async function leased({ url, ...options }: IdsOptions): Promise<IdGenerator & OnApplicationShutdown> {
  const { store, close } = await openStore(url)
  try {
    const lease = await acquireLease({ ...options, store })
    // The lease is lost, and no other node is free: the process ends, and has to be restarted.
    lease.signal.addEventListener('abort', endProcess)
    const onApplicationShutdown = async () => {
      lease.signal.removeEventListener('abort', endProcess)
      await lease.release()
      await close()
    }
    return Object.assign(createGenerator({ lease }) as IdGenerator, { onApplicationShutdown })
  } catch (error) {
    await close()
    throw error
  }
}
