//! Phrases of many languages for the rules of `mention`: one line a language or script, with `|` between phrases.
//!
//! Only words that ask, refuse, report, request or greet are listed; a final `*` stands for any ending.

/// Words of a question, at the beginning of a clause or next to the keyword.
pub(super) const ASKING: [&str; 18] = [
    "왜|도대체|혹시|어떻게|언제|뭐|뭔|뭘|무엇|무슨|어디|누가|얼마|얼마나|몇",
    "なぜ|なんで|何で|何故|どうして|どうやって|どう|いつ|何|なに|どこ|誰|どれ|どんな|いくら|どのくらい",
    "什么|什麼|为什么|為什麼|为啥|啥|怎么|怎麼|怎样|如何|何时|什么时候|哪|谁|誰|多少|几个|有没有|是不是|会不会|能不能|要不要|是否|請問|请问|为何|难道",
    "ทำไม|อะไร|ยังไง|อย่างไร|เมื่อไ|ที่ไหน|ใคร|เท่าไ|หรือเปล่า|มั้ย|ไหม",
    "क्या|क्यों|कैसे|कब|कहाँ|कहां|कौन|कितन*|किसने|किसका|किस",
    "qué|que es|cómo|como funciona|como se|por qué|porqué|cuándo|cuál|quién|dónde|cuánto|cuánta|cuántos|acaso",
    "was|warum|wieso|weshalb|wie|wann|wer|wo|wozu|wofür|welche|welcher|welches|ist|hat|kann ich|kann man|darf|soll ich|läuft|kennt|kennst",
    "quoi|qu'est-ce|que fait|c'est quoi|pourquoi|comment|quand|qui|où|combien|quel|quelle|est-ce|à quoi|faut-il|dois-je|puis-je",
    "o que|por que|por quê|porque o|como funciona|como uso|como usar|como desligo|como eu|quando|quem|onde|quanto|qual|será que|pra que|para que serve",
    "cosa|cos'è|che cos'è|come funziona|come si|come posso|perché|quanto|qual è|dove|chi",
    "что|почему|зачем|как|когда|кто|где|сколько|чем|какой|какая|можно ли|разве|для чего",
    "ما|ماذا|لماذا|كيف|متى|أين|هل|كم|ليش",
    "tại sao|vì sao|sao|làm sao|khi nào|thế nào|có phải|bao giờ|cái gì",
    "neden|niye|niçin|nasıl|ne|nedir|kim|hangi|ne zaman|nerede|kaç",
    "apa|apakah|apaan|kenapa|mengapa|bagaimana|gimana|kapan|siapa|berapa|di mana|itu apa",
    "vad är|varför|hur|när|hvad er|hva er|hvorfor|hvordan|mikä on|miksi|miten|wat is|waarom|hoe",
    "co je|co to|czym|proč|jak|kdy|dlaczego|czemu|kiedy|mi az|miért|hogyan|ce e|ce este|de ce|що|чому|навіщо|як|коли|τι|γιατί|πώς|πότε",
    "מה|למה|איך|מתי|מי|איפה|האם|چیست|چرا|چگونه|چطور|چه",
];

pub(super) const ASKING_END: [&str; 6] = [
    "까|까요|나요|가요|냐|니|죠|지|뭐야|뭐예요|뭔가|뭐임|어디|얼마",
    "か|かな|かしら|っけ|の|どこ|何|なに|いつ|なぜ|どれ|いくら|って",
    "吗|嗎|呢|么|麼|意思|哪里|哪裡|哪儿|多少|什么|什麼|怎么办|干嘛的|好不好用|哪个好",
    "ไหม|มั้ย|อะไร|ยังไง|อย่างไร|เท่าไหร่|หรือเปล่า|หรือ|ที่ไหน|เมื่อไหร่|รึเปล่า",
    "क्या|कैसे|कहाँ|कब|क्यों|कौन",
    "không|chưa|gì|nào|sao|mi|mı|mu|mü|apa|ne|nedir|nasıl|berapa|kah",
];

/// Words that ask for a deed, and so make a question a polite instruction.
pub(super) const REQUESTS: [&str; 15] = [
    "can you|could you|would you|will you|how about|can we|could we|shall we|please|pls|mind using|why don't you|why not",
    "줘|주세요|주십시오|주라|줄래|줄 수|주실|주시|부탁|바랍니다|바람|해라|하자|합시다|할까",
    "ください|下さい|くれ|もらえ|いただけ|頂け|お願い|頼む|頼みます|ほしい|欲しい|ましょう",
    "请用|請用|请使用|麻烦|帮我|幫我|帮忙|给我用|給我用|能用|能使用|可以用|可不可以用|能不能用|能否用|一下",
    "ช่วย|หน่อย|กรุณา|โปรด",
    "सकते|सकती|कृपया|प्लीज|दीजिए|कीजिए",
    "puedes|podrías|podés|puede|podría|por favor",
    "kannst du|könntest|würdest|können sie|könnten|bitte",
    "peux-tu|pouvez-vous|pourrais|pourriez|tu peux|vous pouvez|s'il te plaît|s'il vous plaît|stp",
    "pode usar|pode corrigir|poderia|consegue|você pode|podes",
    "puoi|potresti|può|per favore|per piacere",
    "можешь|можете|мог бы|могли бы|могла бы|пожалуйста|давай|плиз",
    "هل يمكنك|ممكن|من فضلك|رجاء|لو سمحت|هل تستطيع",
    "giúp|hãy|bạn có thể|làm ơn|vui lòng|lütfen|misin|mısın|musun|müsün|misiniz|mısınız|musunuz|müsünüz",
    "tolong|bisakah|bisa tolong|bisa kamu|mohon|coba|silakan",
];

/// Ends of an instruction whose verb stands last.
pub(super) const REQUEST_END: [&str; 3] = [
    "좋겠어|좋겠어요|좋겠다|좋겠습니다|감사하겠습니다|세요|해요|래요|줘|줘요|줘라|주세요|주십시오|줄래|줄래요|주실래요|부탁|부탁해|부탁해요|부탁드려요|부탁드립니다|부탁합니다|하자|해라|하세요|하십시오|합시다|해봐|해 봐|가자|\
     고쳐|달려|고쳐라|진행해|시작해|돌려|시켜|바람|바랍니다|ㄱㄱ|고고|달라|해|하기|기|자",
    "て|てね|てよ|ください|下さい|お願い|お願いします|おねがいします|頼む|頼みます|くれ|もらえますか|もらえる|いただけますか|くれる|くれますか|しろ|せよ|よう|\
     ほしい|欲しい|ほしいです|欲しいです|たい|たいです|ましょう|よろしく|やろう|直そう",
    "करो|करें|कीजिए|दो|दें|दीजिए|कर|करना|लगाओ|बनाओ|चलाओ|जाओ|吧|一下|就行了|就好了|就可以了",
];

pub(super) const SUBJECT_PARTICLES: [&str; 2] = [
    "가|는|은|이|란|이란|의|랑|이랑|와|과|도|에|에서|에게|라|라는|라고|이라는|이라고",
    "が|は|も|って|と|の|か",
];

pub(super) const REPORTS: [&str; 18] = [
    "안|못|자꾸|너무|또|혼자|갑자기|아직|이미|맨날|때문|켠|켜져|꺼진|꺼져|멈춤|멈췄|가|는|은|의|별로|최고|진짜|정말|비용|가격|버그 같|사용 후기|도대체|왜 이",
    "ありがとう|最高|遅|全然|便利|怖|止ま|動か|勝手|嫌|邪魔|使った|壊れ|すごい|うるさ|まだ|また|もう少し|もうちょっと",
    "没|沒|不工作|不停|不会|不會|不起|的|不行|不好|不能|不动|又|挺|蛮|有点|跑起来|用起来|一直在|一直重|一直卡|一直不|一直没|总是|总在|總是|太|很|老是|还在|還在|已经|坏了|壞了|卡住|卡死|卡了|停不|停了|停在|停止了|\
     死了|死机|挂了|掛了|好像|真|花了|消耗|失败了|报错了|自己|突然|无法|無法|会自|会一直|会消耗|会停|会很|会卡|跑了|启动了|有bug|有 bug|有问题|把我的|被|出错了|出问题|吃掉|感觉|是",
    "ไม่ทำ|ไม่เห็น|ไม่หยุด|ไม่จบ|ไม่ได้|ไม่ค่อย|ไม่ยอม|ไม่ดี|ไม่เริ่ม|ไม่ตอบ|หยุด|ค้าง|พัง|ช้า|มัน|น่ารำคาญ|น่าเบื่อ|เริ่มทำงานเอง|เริ่มเอง|กำลัง|คือ|กับ|เป็น|ทำงาน|ยัง|ถูก|ใช้ไม่|ใช้โทเคน|ใช้เวลา|ใช้ดี|โดน|ดี|กิน|รัน|วน|ปลอดภัย|\
     และ ralph",
    "ने|नहीं|बार-बार|अपने आप|काम नहीं|बहुत|और ralph|अटक|रुक|बंद नहीं|बंद हो|फिर से|धीमा|मेरे|हमेशा",
    "no funciona|no se|no para|no termina|no arranca|no responde|no está|no es|no puede|no ha|no quiere|no deja|no va|no me|no hace|no sirve|es|está|se|lleva|\
     funciona|falla|falló|parece|tarda|hace|gasta|me|borró|hizo|había|queda|siempre|nunca|consume|empezó|reinicia|y ralph",
    "ist|hat|wird|kann|soll|sollte|läuft|lief|startet|startete|hört|bleibt|bleibe|geht|funktioniert|hängt|stürzt|frisst|braucht|kostet|scheint|dreht|nervt|war|\
     macht|stoppt nicht|reagiert|und ralph|verbraucht|hängte|löscht|löschte|tut",
    "est|ne|n'*|s'*|a planté|a tourné|a supprimé|a effacé|a crashé|a cassé|a été|a commencé|a échoué|se|fonctionne|marche|plante|boucle|redémarre|tourne|semble|bloque|reste|m'a|m'énerve|m'agace|énerve|agace|me|consomme|coûte|va|était|fait|continue de|et ralph|était",
    "não funciona|não para|não termina|não está|não é|não faz|não responde|não roda|não inicia|não consegue|não quer|é|está|fica|ficou|travou|parou|quebrou|\
     apagou|foi|funciona|gasta|reinicia|e ralph|continua rodando|tem|demora|sempre",
    "non funziona|non si|non va|non parte|non smette|non risponde|è|si|funziona|ha|sembra|resta|gira|sta",
    "ничего|классн*|это|завис|постоянно|всё время|все время|сам|сломан|виснет|и ralph|слишком|никогда|бесконечно|тормозит",
    "لا ي*|لا يعمل|لم|ليس|لن|هو|يعمل|توقف|يستمر|بدأ|ما زال|مازال|كان|يحتاج|حذف|معطل|يتوقف|بطيء|رائع|في حلقة|لا يزال",
    "là|không hoạt|không dừng|không chạy|không làm|không phản|không có|không thể|bị|cứ|vẫn|đã|đang|có|rất|quá|tự|chậm|luôn|và ralph|treo|hỏng|tuyệt",
    "çok|harika|hala|hâlâ|kendi kendine|kendiliğinden|bozuk|ve ralph|durdu|bitti|çöktü|niye",
    "tidak|nggak|ngga|gak|tak|terus|selalu|adalah|itu|sudah|masih|macet|rusak|berhenti|menghapus|bikin|bukan|sangat|terlalu|dan ralph|tiba-tiba|jalan sendiri|lambat|boros|bagus",
    "werkt niet|stopt niet|nie działa|nefunguje|fungerar inte|virker ikke|fungerer ikke|ei toimi|nem működik|nu funcționează|nu merge|не працює|δεν δουλεύει|δεν λειτουργεί",
    "לא עובד|לא עוצר|לא נעצר|לא מפסיק|תקוע|שבור|איטי|کار نمی*|نمی*|خراب است|کند است|گیر کرده",
    "vs|vs.|versus|restarts|hangs",
];

/// Ends of a statement whose verb stands last.
pub(super) const REPORT_END: [&str; 5] = [
    "안 해요|안해요|안 돼요|안돼요|에러 나|에러나|오류 나|오류나|다|야|요|궁금해|궁금해요|이상해|이상해요|불편해|불편해요|필요해|필요해요|안 해|네|네요|는데|는데요|더라|더라고|더라고요|거든|거든요|잖아|듯|듯요|같아|같아요|니다|돼|돼요|져|져요|려요|려|싫어|싫어요|좋아|좋아요|좋다|싫다|없어|없어요|있어|있어요|\
     됨|멈춤|느림|많음|없음|있음|않아|않아요|못해|ㅠㅠ|ㅠ|나와|났음|난다|한다|된다|간다|켜짐|꺼짐",
    "た|だ|です|ます|ません|ない|ないで|いる|てる|ある|なる|よ|ね|な|けど|んだが|みたい|らしい|すぎる|だった|でした|ました|しまう|まう|いい|よい|不要|困る|出る|かかる|できる|い",
    "了|啊|呀|哎|啦",
    "है|हैं|था|थी|थे|गया|गई|गए|रहा|रही|रहे|हुआ|हुई|हूँ|हूं|चुका|चुकी",
    "ไม่ได้|ไม่ออก|ไม่ขึ้น|อีกแล้ว|ตลอด|มาก|เกินไป|แล้วนะ|เอง|ไม่จบ",
];

pub(super) const TALK_BEFORE: [&str; 15] = [
    "什么是|什麼是|啥是|解释|解釋|解释一下|解釋一下|介绍|介紹|介绍一下|介紹一下|关于|關於|说明|說明|怎么用|怎麼用|怎么使用|如何使用|如何用|\
     什么时候用|什么时候使用|要不要用|是否使用|该用|应该用|关闭|文档里提到|提到|我的|这个|這個|那个|讨厌|喜欢|用过|用了|试了|试过|跑了|开了|删除|取消",
    "不要用|不要使用|别用|別用|别使用|不用|不使用|不要|不要开|不要开启|别开|别|勿用|无需|無需|不需要|没有|沒有|没有用|没用|而不是|不开启|禁用|不想用|没让你用|没有让你用|没叫你用|\
     不必用|别再用|停止使用|又开|又用|又启动",
    "내|제|우리|그|이놈의|놈의|문서에|문서에서|없이는|안|나는|저는|어제|아까|지난번에|방금|예전에",
    "私の|うちの|昨日|さっき|この前|勝手に|ドキュメントに|今朝|前に|先週",
    "mi|el|del|al|sobre|qué hace|explica|explícame|explique|sin|sin usar|no uses|no usar|no use|no usas|no quiero|no quiero usar|entiendo|odio|gusta|encanta|adoro|llamado|palabra",
    "o|meu|no|sem|sem usar|não use|não usar|não usa|não quero|não quero usar|não entendo|odeio|sobre|que faz|palavra",
    "mein|das|dem|der|des|von|vom|was macht|was bedeutet|erkläre|erklär|erkläre mir|über|ohne|kein|keine|nicht|kein bisschen|statt|hasse|mag|liebe|wort|hat|läuft|lief|ist|startet|wegen",
    "le|mon|du|au|que fait|explique|explique-moi|sans|sans utiliser|pas|pas d'|n'utilise pas|n'utilisez pas|aime|adore|déteste|tapé|mot|démarre|de",
    "il|mio|del|cos'è|spiega|senza|senza usare|non usare|non voglio|odio|parola",
    "не используй|не использовать|не надо|не нужен|не запускай|не включай|без|объясни|про|об|о|мой|этот|ненавижу|обожаю|люблю|нравится|слово|делает|работает|останавливается|запустил",
    "بدون|لا تستخدم|اشرح|عن|كلمة|من دون|لا أريد|لماذا|يعمل|يتوقف",
    "không dùng|đừng dùng|không sử dụng|đừng|giải thích|về|không cần|từ|không muốn dùng|cái|của",
    "tanpa|jangan pakai|jangan gunakan|jangan|tidak pakai|tidak perlu|gak usah pakai|ga usah pakai|jelaskan|tentang|kata|benci|soal",
    "bu|şu|benim|neden|niye|ne|açıkla|hakkında",
    "ไม่ต้องใช้|ไม่ใช้|อย่าใช้|ห้ามใช้|ไม่ต้อง|โดยไม่ใช้|อธิบาย|เกี่ยวกับ|เมื่อวานใช้|เพราะ|ของ|คำว่า|मेरा|बिना|मैंने|कल|हमारा|मेरे",
];

/// Words that show talk about a keyword or its refusal, behind the keyword, its particle or `mode`.
pub(super) const TALK_AFTER: [&str; 8] = [
    "설명해|설명 좀|설명 부탁|설명을|설명이|설명하|소개해|소개 좀|소개 부탁|사용법|사용 법|사용방법|사용 방법|쓰는 |끄는 |끄고|끄지|끄자마자|켜는 |멈추는 |사용하는 방법|작동 방식|차이|의미|뜻|에 대해|에 대한|에대해|대해|기능|원리|\
     어떻게 써|어떻게 쓰|어떻게 사용|어떻게 동작|어떻게 작동|어떻게 켜|어떻게 돼|언제 써|언제 쓰|언제 사용|써야|써도|필요한가|필요해?|필요한지|켜진|와 랄프|발생했|쳤을|동작해|동작하|작동해|작동하|\
     뭐|뭔|무엇|무슨|란|이란|라는|이라는|로그에|켜져 있|문서 어디|쓰면|돌리면|하면",
    "없이|말고|빼고|제외|안 쓰|안쓰|안 써|안써|쓰지|사용하지|사용 안|켜지 마|켜지마|켜지 말|하지 마|하지마|금지|돌리지|실행하지|필요 없|필요없",
    "とは|って|何|の使い方|の意味|の説明|の違い|について|の仕組み|の機能|の状態|はどう|はいつ|は必要|はなぜ|が動|が起|どう使|どうやって使|使い方|説明して|説明を|\
     使うべき|使うと|いつ使|と違|なし|無し|使わ|使うな|ではなく|じゃなく|抜きで|外し|やめ|使ったら|止める|入力し|直りま|直した|直せな|やった|にしない|せい|バグを報告|ドキュメント|のせい|のバグ",
    "什么意思|什麼意思|怎么用|怎麼用|怎么工作|怎么样|如何使用|如何工作|有什么|有什麼|有啥|的用|的意|的区|的區|的文档|的文檔|的功能|的原理|的状态|的问题|\
     和|与|與|跟|吗|嗎|该怎么|的作用|介绍|说明|是|好用|安全|哪个",
    "คือ|के बारे|ใช้ยังไง|ใช้งานยังไง|ใช้อย่างไร|ทำงานยังไง|क्या है|के बिना|का मतलब|कैसे|क्या|मत|का इस्तेमाल मत|का उपयोग मत|का उपयोग कैसे|का बग|टाइप",
    "là gì|hoạt động thế nào|dùng thế nào|nedir|ne demek|nicht verwenden|nicht benutzen|nicht nutzen|kullanma|olmadan|itu apa|tidak usah|hariç|yerine",
    "o que|qué es|was ist|c'est quoi|cos'è|что это|ما هو|ما هذا|cómo funciona|wie funktioniert",
    "없으면|덕분|써 본|써본|쓴 적",
];

pub(super) const USE_BEFORE: [&str; 17] = [
    "use|using|with|via|through|run|start|enable|activate|trigger|launch|engage|invoke|apply|do|try|go|have|let|let's|lets|please|pls|to|into|in|just|you|we|need|turn on|\
     switch on|switch to|time for|force|gonna|again|you to|keep|continue|can|could|should|by|lets|it's|want|kick off|fire up|ok|okay",
    "이거|이걸|이것|이것도|그냥|좀|제발|다시|이제|일단|그럼|전부|모두|다|작업|문제|버그|그거|얘|싹|한번|바로",
    "これ|これを|それを|全部|では|じゃあ|もう一度|を|は|今|から|テストを",
    "用|使用|开|開|开启|開啟|启动|啟動|以|通过|通過|走|进入|進入|切换到|切到|跑|请|請|请用|打开|打開|启用|啟用|直接|继续|全部|把它|这里|运行|再|去|来|給我|给我|你",
    "ใช้|ด้วย|เปิด|รัน|โดยใช้|โหมด|ลอง|เริ่ม|ช่วย",
    "इसे|इसको|यह|कृपया|अब|से|को|बस|फिर|में",
    "usa|usar|usando|utilices|usa el|utiliza|utilizando|con|con el|en modo|modo|activa|activar|ejecuta|inicia|lanza|pon|favor|hazlo|aplica|ahora|mediante|enciende|entra en|prueba",
    "use|usa|use o|usar|usando|com|com o|no modo|modo|ativa|ative|rode|rode o|inicie|inicia|ligue|liga|execute|agora|utilize|via|aplique|coloque",
    "utilise|utilises|utilisez|utiliser|utilisant|avec|en mode|mode|lance|lancez|active|activez|passe|passe en|démarre|via|par|mets|fais|maintenant|plaît|stp",
    "mit|benutze|benutz|nutze|nutz|verwende|verwend|starte|start|aktiviere|aktivier|im|per|mach|mache|bitte|jetzt|einsetzen|einmal|mal|dann|via|schalte|wechsle zu|durch|über den modus",
    "usa|usando|con|attiva|avvia|lancia|modalità|in modalità|ora|esegui|usi|utilizza|favore",
    "с|со|используй|используйте|используя|через|запусти|запустите|включи|включите|врубай|режиме|в режиме|режим|теперь|давай|пожалуйста|примени|на|задействуй|помощью",
    "استخدم|استعمل|باستخدام|مع|شغل|شغّل|فعّل|فعل|عبر|بواسطة|ابدأ|وضع|استخدام|و",
    "dùng|sử dụng|bằng|với|chạy|bật|chế độ|hãy|kích hoạt|khởi động|qua|bởi",
    "bunu|şunu|hepsini|lütfen|hemen|şimdi|haydi|hadi|testleri|hatayı|tekrar",
    "pakai|gunakan|menggunakan|dengan|jalankan|aktifkan|nyalakan|lewat|mode|tolong|pakailah|mulai|via|hidupkan|coba",
    "gebruik|met|använd|med|bruk|użyj|z|použij|brug|käytä|használd|használj|folosește|cu|використай|використовуй|з|через|χρησιμοποίησε|με|با|از",
];

pub(super) const USE_AFTER: [&str; 6] = [
    "로|으로|를|을|해|하|써서|켜|돌려|사용해|시작|ㄱㄱ|부탁|좀|진행|적용|써",
    "で|を|に|して|お願い|頼|よろしく",
    "来|來|修|做|跑|完成|搞|把|重构|处理|解决|帮",
    "แก้|ทำ|ช่วย|เพื่อ|ให้|แล้ว|หน่อย|से|का उपयोग|का इस्तेमाल|को|के साथ|चालू|लगा",
    "ile|kullan|kullanarak|modunda|moduyla|modunu|ile birlikte|çalıştır|başlat|aç|yardımıyla",
    "para|pour|чтобы|để|untuk|this|it|these|those|them|the|all|everything|my|our",
];

/// Words that ask for an explanation, not for a deed.
pub(super) const EXPLAINING: [&str; 3] = [
    "explain|describe|erklär|explica|explíca|expliqu|spiega|объясни|расскажи|اشرح|jelaskan|giải thích|açıkla|anlat",
    "설명|알려|가르쳐|説明|教えて|解释|解釋|说明|介绍|告诉我|คำอธิบาย|อธิบาย|समझा|बता",
    "difference|unterschied|diferencia|différence|diferença|differenza|разниц|отлича|perbedaan|beda|fark|khác|ต่าง|अंतर|차이|違い|区别|區別|الفرق|비교|比较",
];

pub(super) const FILLERS: [&str; 8] = [
    "so|and|but|or|hey|hi|hello|ok|okay|well|also|then|now|wait|um|hmm|please|pls|plz|just|btw|oh|claude|quick|thx|thanks|thank|you|here|mode|style|again|go|yo|dear|right|yes|yeah|great|today|first|everyone|sir|buddy|guys|asap|\
     immediately|tonight|cheers",
    "안녕|안녕하세요|제발|좀|그냥|이제|일단|그럼|모드|자|네|응|부탁|부탁해|부탁해요|부탁드립니다|부탁드려요|클로드|고마워|감사합니다|감사해요|ㄱㄱ|지금|오케이",
    "では|じゃあ|さて|モード|お願い|お願いします|よろしく|よろしくお願いします|ください|頼む|今|すみません|こんにちは|はい|で|でお願い|でお願いします|で頼む|だ|よ|ね|を",
    "请|請|吧|模式|你好|您好|好的|好|谢谢|謝謝|现在|现在就|了|麻烦|那么|那|嗨",
    "สวัสดี|ครับ|ค่ะ|คะ|นะ|หน่อย|ด้วย|เลย|ขอบคุณ|कृपया|नमस्ते|धन्यवाद|अब|भाई|मोड|प्लीज",
    "hola|por|favor|gracias|ahora|bien|bueno|vale|olá|oi|obrigado|obrigada|agora|bonjour|salut|merci|s'il|te|plaît|vous|maintenant|stp|svp|ciao|grazie|ora|per|favore",
    "bitte|danke|jetzt|hallo|guten|tag|moin|mal|привет|пожалуйста|спасибо|теперь|сейчас|здравствуйте|давай|ладно|مرحبا|شكرا|الآن|من|فضلك|رجاء",
    "xin|chào|đi|nhé|cảm|ơn|lütfen|merhaba|teşekkürler|selam|hadi|şimdi|tolong|halo|ya|dong|sekarang|terima|kasih|hai|makasih|alsjeblieft",
];

pub(super) const RUSSIAN_REPORT_VERBS: [&str; 14] = [
    "ает", "яет", "ует", "ится", "ется", "лся", "лась", "лось", "лись", "ил", "ал", "ел", "ла",
    "ало",
];

pub(super) const TURKISH_REPORT_VERBS: [&str; 19] = [
    "iyor", "ıyor", "uyor", "üyor", "dı", "dü", "tı", "tü", "mış", "müş", "ldu", "rdu", "ndu",
    "ktu", "tti", "ldi", "rdi", "şti", "çti",
];

/// Words of a refusal, whose object follows at most a few words later.
pub(super) const REFUSING: [&str; 4] = [
    "no|nunca|sin|não|sem|nicht|kein|keine|keinen|nie|ohne|pas|jamais|sans|ne|non|mai|senza|geen|niet|nie|bez|inte|utan",
    "не|без|никогда|нельзя|لا|بدون|لم|không|đừng|chưa|jangan|tanpa|tidak|usah|bukan|hiç",
    "मत|नहीं|बिना",
    "不要|别|別|勿|不想|我没|没让|没叫|没输入|不是让|不是叫|不必|无需|不用|不该|没有|ไม่|อย่า|ห้าม",
];

/// Words that turn a refusal into its opposite (`don't forget to use …`).
pub(super) const FORGETTING: [&str; 1] = [
    "olvid|dud|vergiss|vergessen|oubli|hésit|esque|hesit|забуд|dimentic|lupa|quên|unut|忘|ลืม|भूल|تنس",
];

/// Beginnings of a clause about a past use of the keyword.
pub(super) const PAST: [&str; 2] = [
    "yesterday|last time|last week|last night|earlier|ayer|anoche|gestern|neulich|hier|ontem|ieri|вчера|недавно|أمس|hôm qua|dün|kemarin|tadi|कल",
    "어제|아까|지난|방금|예전|昨日|さっき|先週|先ほど|この前|今朝|昨天|刚才|刚刚|上次|之前|前天|我昨天|我刚|我之前|เมื่อวาน|เมื่อกี้",
];

/// Words of the first person: a next sentence that begins with one is no task.
pub(super) const SPEAKERS: [&str; 1] = [
    "i|i'm|my|it|we|나|나는|내|내가|저|저는|제|제가|我|私|私は|俺|yo|ich|je|j'ai|eu|я|मैं|ฉัน|ผม|saya|aku|ben|tôi|أنا|mi|mein|mon",
];
