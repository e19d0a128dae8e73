import type { LearnMessages } from './en.ts'

/** Kiswahili */
export const learnSw: LearnMessages = {
  learn: 'Jifunze',
  learnLead: 'Jinsi kitambulisho cha Snowflake kinavyotengenezwa na kuchanganuliwa.',
  learnLink: 'Jinsi kinavyofanya kazi',
  learnIdHint: 'Tupu: kitambulisho cha sasa.',
  learnNow: 'Cha sasa',
  learnColumns: 'Hatua\nDesimali\nHeksadesimali\nBiti',
  learnWhat: `Ni nini
Kitambulisho cha Snowflake ni nambari kamili isiyozidi biti 64. Seva hukitengeneza bila kuuliza mtu.
Kina muda, nambari ya seva (nodi), na kihesabu ndani ya muda huo (mfuatano). Vitambulisho viwili hutofautiana angalau katika sehemu moja.
Muda uko mwanzo, kwa hiyo vitambulisho hupangika kwa muda, kadiri saa za seva zinavyokubaliana.`,
  learnBits: `Biti
Katika {layout}, muda una biti {timestampBits}: hatua za milisekunde {tick} tangu {epoch}, kwa miaka {years}.
Nodi ina biti {nodeBits}: nodi {nodes}, kuanzia 0 hadi {lastNode}. Mfuatano una biti {sequenceBits}: vitambulisho {perTick} kwa hatua, {perSecond} kwa sekunde katika kila nodi.
Kitambulisho kina biti {bits}. Nambari ya biti 64 yenye alama ina nafasi ya 63: biti ya kwanza ni alama.`,
  learnMade: `Jinsi nambari inavyotengenezwa
Muda ni wakati wa sasa ukitoa mwanzo wa muda, kwa hatua. \`<<\` husogeza kila sehemu mahali pake, na \`|\` huziunganisha.`,
  learnApart: `Jinsi inavyochanganuliwa
\`>>\` husogeza sehemu hadi mwisho, na \`&\` yenye kinyago cha moja hukata kilicho juu yake. Kitambulisho hakisemi mpangilio wake: msomaji lazima aujue.`,
  learnSteps: `Kanuni
Soma saa, na ukokotoe hatua.
Ikiwa ni hatua ya kitambulisho cha mwisho, ongeza 1 kwenye mfuatano.
Ikiwa ni hatua ya baadaye, anza mfuatano kwa 0.
Kumbuka hatua na mfuatano kwa kitambulisho kijacho.
Unganisha hatua, nodi na mfuatano.`,
  learnTroubles: `Kinachoweza kutokea
Kurudi nyuma: saa imerudishwa hadi hatua ambayo nambari zake huenda zimetumika. Kitengenezaji hukataa, husubiri, au huendelea kuhesabu katika hatua yake ya mwisho.
Kujaa: nambari zote {perTick} za hatua zimetumika. Kitengenezaji husubiri hatua ijayo.
Seva mbili zenye nambari moja hutengeneza kitambulisho kilekile mara tu hatua na mfuatano vinapolingana. Kwa hiyo kila nambari inahitaji mmiliki mmoja kwa wakati mmoja, kwa mfano kukodisha katika hifadhidata.`,
  learnPrimer: `Kusogeza, vinyago, kijalizo cha mbili
\`x << 12\` husogeza biti nafasi 12 kushoto: x × 4096. \`x >> 12\` huzirudisha, na kudondosha 12 za mwisho.
\`a | b\` ina moja za zote mbili: ni jumla, ikiwa hakuna nafasi yenye moja mbili.
\`a & b\` ina moja zilizo katika zote mbili. Kinyago \`0xfff\` kina moja 12, kwa hiyo \`x & 0xfff\` ni biti 12 za mwisho.
Katika kijalizo cha mbili, −x ina biti za 2^64 − x, kwa hiyo −1 ni moja tupu. \`-1 ^ (-1 << 5)\` katika msimbo wa zamani ni 31: kinyago cha moja 5.
Katika JavaScript, \`<<\`, \`>>\` na \`&\` hukata nambari hadi biti 32: tumia bigint.`,
  learnUse: 'Jinsi ya kutumia ukurasa huu',
  learnWhen: `Wakati wa kutumia vitambulisho hivi
Kwa funguo ambazo seva nyingi hutengeneza, zenye baiti 8 na zinazopangika kwa muda. Si kama siri, wala kama nambari zisizo na mapengo.
Oda: huduma hujua kitambulisho kabla ya kuandika safu.
Ujumbe: orodha hupangwa kwa kitambulisho, na huendelea baada ya cha mwisho kilichoonekana.
Kumbukumbu: masafa ya vitambulisho ni masafa ya muda.
Vipande: safu zina vitambulisho tofauti katika hifadhidata zote, na zinaweza kuhama.`,
  learnOthers: `Njia nyingine
Biti 122 za nasibu: hakuna nambari za nodi, wala mpangilio, jambo linalopunguza kasi ya faharasa.
Muda kwa milisekunde na biti 74 za nasibu: hupangika bila nambari za nodi, kwa nafasi maradufu.
Muda kwa milisekunde na biti 80 za nasibu, kwa herufi 26.
Baiti 12: muda kwa sekunde, nambari ya nasibu, kihesabu.
Baiti 20: muda kwa sekunde na biti 128 za nasibu.
Nambari ndogo kabisa: hifadhidata moja huzitoa zote, na zinaonyesha ziko ngapi.`,
  learnLimits: `Mipaka
Saa: usahihi wa kitambulisho ni usahihi wa saa ya seva yake. NTP iirekebishe polepole, si kwa kuruka.
Mwisho: {layout} itaisha {expires}. Mwanzo wa baadaye hutoa miaka {years} kuanzia hapo.
Nambari za nodi: zisizozidi {nodes}, kila moja na mmiliki mmoja.
Mfuatano: ukianza kwa 0 katika kila hatua, vitambulisho vingi vya huduma tulivu ni shufwa, na \`id % n\` hugawa vipande vibaya.
Mpangilio: kitambulisho cha baadaye cha seva nyingine kinaweza kuwa kidogo, ikiwa saa yake iko nyuma. Baada ya \`observe(id)\` ya graupel, vinavyofuata ni vikubwa kuliko hicho.
Kukisia: kitambulisho huonyesha muda na nodi yake, na vingine vinaweza kukisiwa. Kagua haki, au ficha vitambulisho kwa ufunguo.`,
  learnHistory: `Historia
Mwaka 2010 Twitter ilitaka kuhama kutoka MySQL hadi Cassandra, ambayo haitengenezi vitambulisho.
Snowflake ilikuwa huduma ya Scala, iliyoitwa kwa Thrift.
Ilipaswa kutengeneza vitambulisho 10 000 kwa sekunde katika kila mchakato, ndani ya milisekunde 2, takriban kwa mpangilio wa muda.
Vitambulisho vyake huzidi 2^53, kwa hiyo API ya Twitter ilipata \`id_str\` kwa JavaScript.
Wengine walibadilisha sehemu: nodi ya Instagram ni kipande, mwanzo wa Discord ni 2015, hatua ya Sonyflake ni milisekunde 10; sekunde za Baidu ziliisha 2024.
graupel huhifadhi biti, hukodisha nambari za nodi, na hukumbuka kitambulisho cha mwisho baada ya kuanza upya.`,
  learnReferences: 'Marejeo',
  learnCode: `Msimbo wa {layout}
Husimba, huchanganua na hutengeneza vitambulisho kwa nambari kamili; maelezo yake husema kisichofanywa.`,
}
