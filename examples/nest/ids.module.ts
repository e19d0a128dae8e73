import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common'
import { createGenerator } from 'graupel'
import { acquireLease, type Lease } from 'graupel/lease'
import { type OpenedStore, openStore } from 'graupel/stores/url'

/** Injects the generator: `constructor(@Inject(IDS) private readonly ids: IdGenerator) {}`. */
export const IDS = Symbol('ids')
const STORE = Symbol('store')
const LEASE = Symbol('lease')

const endProcess = () => process.kill(process.pid, 'SIGTERM')

@Global()
@Module({
  providers: [
    { provide: STORE, useFactory: () => openStore(process.env.STORE_URL ?? 'sqlite:fleet.db') },
    { provide: LEASE, inject: [STORE], useFactory: ({ store }: OpenedStore) => acquireLease({ store }) },
    { provide: IDS, inject: [LEASE], useFactory: (lease: Lease) => createGenerator({ lease }) },
  ],
  exports: [IDS],
})
export class IdsModule implements OnApplicationShutdown {
  constructor(
    @Inject(STORE) private readonly opened: OpenedStore,
    @Inject(LEASE) private readonly lease: Lease,
  ) {
    // The lease is lost, and no other node is free: the process ends, and has to be restarted.
    lease.signal.addEventListener('abort', endProcess)
  }

  // Runs after the requests that have begun; onModuleDestroy runs before them.
  async onApplicationShutdown() {
    this.lease.signal.removeEventListener('abort', endProcess)
    await this.lease.release()
    await this.opened.close()
  }
}
